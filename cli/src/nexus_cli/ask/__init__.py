"""`nexus ask`: a market analysis from the terminal, on a running stack or on one that is started for the question."""
