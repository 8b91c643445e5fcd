"""The shell around the decisions of a turn: performs their effects through ports."""
