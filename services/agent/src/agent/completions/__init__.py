"""Completions: the copilot with its tools, for callers that keep the conversation themselves."""
