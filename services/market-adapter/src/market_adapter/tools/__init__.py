"""The tools that this service serves, a file for each group."""
