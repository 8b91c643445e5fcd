"""Settings that are not saved yet, tried on one question."""
