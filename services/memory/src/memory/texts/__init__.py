"""What memory says to people in a conversation: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("memory.texts")
