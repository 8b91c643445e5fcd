"""Texts of the pages and the widget: site/words/<language>.json, by section."""

import json
from functools import cache
from importlib.resources import files
from typing import Annotated, cast

from fastapi import Header

from contracts.languages import Language

SITE = files("gateway") / "site"

AcceptLanguage = Annotated[
    str | None, Header(alias="Accept-Language", max_length=200, description="es or en: what you are told is in it")
]
Words = dict[str, str]


@cache
def catalogue(language: Language) -> dict[str, Words]:
    """All texts of one language: section, key, text. Placeholders are {name}."""
    return cast("dict[str, Words]", json.loads((SITE / "words" / f"{language}.json").read_text(encoding="utf-8")))


def words(language: Language, section: str) -> Words:
    return catalogue(language)[section]
