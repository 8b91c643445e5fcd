"""`nexus replay`: recorded turns beside the same turns with another model, prompt or settings."""
