"""What people read, in both of the product's languages."""

from dataclasses import dataclass

from contracts.languages import spoken_language


@dataclass(frozen=True, slots=True)
class Text:
    """The same text in both languages; as a plain string, as logs have it, it is the English one."""

    es: str
    en: str

    def said_in(self, language: str) -> str:
        """English for en and its regions, Spanish otherwise."""
        return self.en if spoken_language(language) == "en" else self.es

    def __str__(self) -> str:
        return self.en
