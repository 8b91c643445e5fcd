"""Texts for people, in every language of the product.

A service keeps them in its package `texts`, one file for each language (`texts/es.toml`, `texts/en.toml`): another file
adds a language.
"""

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from contracts.languages import DEFAULT_LANGUAGE, named_language


@dataclass(frozen=True, slots=True, init=False)
class Text:
    """A text by language. As a plain string, for example in logs, it is the English one."""

    by_language: Mapping[str, str]

    def __init__(self, **by_language: str) -> None:
        object.__setattr__(self, "by_language", by_language)

    def in_language(self, language: str) -> str:
        """Returns the text in this language (a tag, or an Accept-Language header); in Spanish if there is none."""
        text = self.by_language.get(language)  # nearly always one of our languages, so no tag must be parsed
        return text or self.by_language[named_language(language, self.by_language) or DEFAULT_LANGUAGE]

    def format(self, *args: object, **values: object) -> "Text":
        """Returns the text with values inserted, as str.format does; a value that is a Text is inserted by language."""

        def format_in(language: str, text: str) -> str:
            def localized(value: object) -> object:
                return value.in_language(language) if isinstance(value, Text) else value

            return text.format(*map(localized, args), **{name: localized(value) for name, value in values.items()})

        return Text(**{language: format_in(language, text) for language, text in self.by_language.items()})

    def __str__(self) -> str:
        return self.by_language["en"]


class TextTable:
    """The texts of a package by key: `TEXTS["orders.too_many"]` is `too_many` in the table `[orders]`."""

    def __init__(self, texts: Mapping[str, Text]) -> None:
        self._texts = texts

    def __getitem__(self, key: str) -> Text:
        return self._texts[key]

    def section(self, name: str) -> Mapping[str, Text]:
        """Returns all texts of a table, by the last part of their keys."""
        return {key.removeprefix(f"{name}."): text for key, text in self._texts.items() if key.startswith(f"{name}.")}


def read_texts(package: str | Traversable) -> TextTable:
    """Reads the files `<language>.toml` of a package or a folder. A text that a language lacks is shown in Spanish."""
    folder = files(package) if isinstance(package, str) else package
    texts: dict[str, dict[str, str]] = {}
    for file in folder.iterdir():
        language, _, kind = file.name.partition(".")
        if kind == "toml":
            for key, text in _flat(tomllib.loads(file.read_text(encoding="utf-8"))):
                texts.setdefault(key, {})[language] = text
    return TextTable({key: Text(**by_language) for key, by_language in texts.items()})


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield prefix + key, value
        else:
            yield from _flat(value, f"{prefix}{key}.")
