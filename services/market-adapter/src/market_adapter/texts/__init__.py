"""What the market service says to people and models; one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("market_adapter.texts")
