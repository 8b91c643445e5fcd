"""The shell around the turn decisions: performs their effects through ports."""
