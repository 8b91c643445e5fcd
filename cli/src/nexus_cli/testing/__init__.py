"""Helpers for tests of the stack. No service uses them."""
