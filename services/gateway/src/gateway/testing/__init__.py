"""Helpers for tests of the gateway. No service uses them."""
