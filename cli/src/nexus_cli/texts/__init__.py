"""The texts of the terminal: one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("nexus_cli.texts")
