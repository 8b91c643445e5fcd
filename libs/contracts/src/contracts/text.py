"""Texts for people, in every language of the product.

A service keeps them in its package `texts`, a file a language (`texts/es.toml`, `texts/en.toml`): one more file is one
more language.
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
    """A text by language. Used as a plain string, as in logs, it is the English one."""

    by_language: Mapping[str, str]

    def __init__(self, **by_language: str) -> None:
        object.__setattr__(self, "by_language", by_language)

    def in_language(self, language: str) -> str:
        """The text in this language (a tag, or an Accept-Language header); in Spanish where there is none in it."""
        said = self.by_language.get(language)  # nearly always one of ours, and no tag that has to be read
        return said or self.by_language[named_language(language, self.by_language) or DEFAULT_LANGUAGE]

    def format(self, *args: object, **values: object) -> "Text":
        """The text with values in its places, as str.format does; a value that is a Text is put in by language."""

        def filled(language: str, text: str) -> str:
            def said(value: object) -> object:
                return value.in_language(language) if isinstance(value, Text) else value

            return text.format(*map(said, args), **{name: said(value) for name, value in values.items()})

        return Text(**{language: filled(language, text) for language, text in self.by_language.items()})

    def __str__(self) -> str:
        return self.by_language["en"]


class TextTable:
    """The texts of a package by key, as in `TEXTS["orders.too_many"]` for `too_many` in the table `[orders]`."""

    def __init__(self, texts: Mapping[str, Text]) -> None:
        self._texts = texts

    def __getitem__(self, key: str) -> Text:
        return self._texts[key]

    def section(self, name: str) -> Mapping[str, Text]:
        """All texts of a table, by the last part of their keys."""
        return {key.removeprefix(f"{name}."): text for key, text in self._texts.items() if key.startswith(f"{name}.")}


def read_texts(package: str | Traversable) -> TextTable:
    """Reads the files of a package, or a folder: `<language>.toml` each. A text that a language lacks is said in
    Spanish."""
    folder = files(package) if isinstance(package, str) else package
    found: dict[str, dict[str, str]] = {}
    for file in folder.iterdir():
        language, _, kind = file.name.partition(".")
        if kind == "toml":
            for key, text in _flat(tomllib.loads(file.read_text(encoding="utf-8"))):
                found.setdefault(key, {})[language] = text
    return TextTable({key: Text(**by_language) for key, by_language in found.items()})


def _flat(table: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    for key, value in table.items():
        if isinstance(value, str):
            yield prefix + key, value
        else:
            yield from _flat(value, f"{prefix}{key}.")
