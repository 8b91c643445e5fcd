"""What the market service says to people and models: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("market_adapter.texts")
