"""The gateway's texts for people and clients: one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("gateway.texts")
