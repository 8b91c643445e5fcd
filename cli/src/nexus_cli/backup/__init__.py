"""Backs up streams, documents and settings to a directory, and restores them."""
