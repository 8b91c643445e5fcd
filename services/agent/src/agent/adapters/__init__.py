"""One file for each outside thing."""
