"""Calls to another service: one answer or a stream of parts, with a deadline and errors as replies."""
