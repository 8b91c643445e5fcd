"""The executor's texts for people and models; one file for each language."""

from contracts.text import Text, read_texts

TEXTS = read_texts("tool_executor.texts")


def in_language(message: Text | str, language: str) -> str:
    """The text in that language; a plain string is one already."""
    return message.in_language(language) if isinstance(message, Text) else message
