"""The assistant's own texts, outside a model's answers; one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("agent.texts")
