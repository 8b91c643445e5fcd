"""What the assistant says by itself, outside a model's answers: a file a language beside this one."""

from contracts.text import read_texts

TEXTS = read_texts("agent.texts")
