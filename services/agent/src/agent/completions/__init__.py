"""Completions: the copilot with its tools for callers who keep their conversation themselves."""
