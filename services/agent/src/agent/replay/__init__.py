"""Runs recorded turns again with the code that serves visitors; everything outside is played back from the record.
`python -m agent.replay` is what `nexus replay` runs.

`python -m agent.replay` is what `nexus replay` runs.
"""
