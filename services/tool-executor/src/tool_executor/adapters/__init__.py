"""One file for each outside system."""
