"""One file an outside thing."""
