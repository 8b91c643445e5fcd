"""Measures how good answers, plans and recall are."""
