"""Texts that several services use, one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("contracts.texts")
