"""Helpers for tests of the tool-executor; no service uses them."""
