"""Recorded turns done again, by the code that did them first, with everything outside played from the record.

`python -m agent.replay` is what `nexus replay` runs.
"""
