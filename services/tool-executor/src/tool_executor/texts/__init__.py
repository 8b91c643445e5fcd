"""The executor's texts for people and models; one file for each language."""

from contracts.text import Text, read_texts

TEXTS = read_texts("tool_executor.texts")


def spoken(message: Text | str, language: str) -> str:
    """The text in that language; a plain string is one already."""
    return message.said_in(language) if isinstance(message, Text) else message
