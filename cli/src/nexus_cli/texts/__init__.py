"""What the terminal says by itself: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("nexus_cli.texts")
