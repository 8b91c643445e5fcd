"""The market service's texts for people and models; one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("market_adapter.texts")
