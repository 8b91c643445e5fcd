"""Texts that several services say: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("contracts.texts")
