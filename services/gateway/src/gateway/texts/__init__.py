"""What the gateway says to people and clients: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("gateway.texts")
