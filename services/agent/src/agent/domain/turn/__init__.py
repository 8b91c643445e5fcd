"""The turn: the state in the log, the journal, and the next step."""
