"""The texts that memory sends to people in a conversation: one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("memory.texts")
