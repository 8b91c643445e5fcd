"""The texts of the terminal: one file for each language."""

from collections.abc import Mapping

from contracts.text import Text, read_texts

TEXTS = read_texts("nexus_cli.texts")


def word(section: Mapping[str, Text], key: str, locale: str) -> str:
    """The word for a key of a section. A key that only a newer release has is shown as it is, by its last part."""
    text = section.get(key)
    return text.in_language(locale) if text else key.rpartition(".")[2]
