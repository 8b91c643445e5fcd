"""Texts for people, in both of the product's languages."""

from dataclasses import dataclass

from contracts.languages import spoken_language


@dataclass(frozen=True, slots=True)
class Text:
    """A text in both languages; used as a plain string, as in logs, it is the English one."""

    es: str
    en: str

    def said_in(self, language: str) -> str:
        """English for en and its regions, Spanish otherwise."""
        return self.en if spoken_language(language) == "en" else self.es

    def __str__(self) -> str:
        return self.en
