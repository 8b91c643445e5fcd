"""Keeps a prompt inside its window: exact token counts, and compression."""
