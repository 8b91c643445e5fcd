"""Completions: the copilot with its tools, for callers who keep the conversation themselves."""
