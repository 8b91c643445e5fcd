"""The turn: what the log says, what the journal holds, what to do next."""
