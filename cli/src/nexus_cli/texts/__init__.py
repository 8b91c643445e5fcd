"""The texts of the terminal: one file for each language."""

from contracts.text import read_texts

TEXTS = read_texts("nexus_cli.texts")


def word(section: str, key: str, locale: str) -> str:
    """The word for a key of a section. A key that only a newer release has is shown as it is, by its last part."""
    words = TEXTS.section(section).get(key)
    return words.in_language(locale) if words else key.rpartition(".")[2]
