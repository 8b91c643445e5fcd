"""The tools that this service serves, one file for each group."""
