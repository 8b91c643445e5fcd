"""Tries unsaved settings on one question."""
