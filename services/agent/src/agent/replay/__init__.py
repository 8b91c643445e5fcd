"""Runs recorded turns again with the code that serves visitors; everything outside is played back from the record.
`nexus replay` runs it as `python -m agent.replay`."""
