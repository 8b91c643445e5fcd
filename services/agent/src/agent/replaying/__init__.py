"""Recorded turns done again, by the code that did them first, with everything outside played from the record.

`python -m agent.replaying` is what `nexus replay` runs.
"""
