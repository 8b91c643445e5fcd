"""Backups: streams, documents and settings in a directory, and back."""
