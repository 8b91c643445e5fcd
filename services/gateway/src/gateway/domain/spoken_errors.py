"""Errors in the reader's language: they are raised in English and translated into Spanish here, when they are sent
(texts/errors.es.toml). Errors without an entry stay in English, as do those of /v1, A2A and MCP, whose clients are
programs."""

import re
import tomllib
from functools import cache
from importlib.resources import files

from contracts.languages import Language

LONGEST = 2_000
"""Characters of the longest text that is looked up."""
_FIELD = re.compile(r"(?P<field>[A-Za-z][A-Za-z0-9_.\[\]-]{0,200}): (?P<said>.+)", re.DOTALL)


def in_language(said: str, language: Language | None) -> str:
    """An error's text in this language; None: no language was given."""
    return _spanish(said) if language == "es" and len(said) <= LONGEST else said


def _spanish(said: str) -> str:
    whole, with_places = _table()
    if (known := whole.get(said)) is not None:
        return known
    if "; " in said and (parts := said.split("; ")) and all(_FIELD.fullmatch(one) for one in parts):
        return "; ".join(map(_spanish, parts))
    if (about := _FIELD.fullmatch(said)) is not None and (told := _spanish(about["said"])) != about["said"]:
        return f"{about['field']}: {told}"
    for pattern, spanish in with_places:
        if (found := pattern.fullmatch(said)) is not None:
            return spanish.format(*(_spanish(_joined(one)) for one in found.groups()))
    return said


def _joined(value: str) -> str:
    """Translates the last `or` of a list of choices inserted into a text."""
    return re.sub(r"(?<=') or (?=')", " o ", value)


@cache
def _table() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """The texts without placeholders, and patterns for the others, those with the most fixed text first."""
    text = (files("gateway") / "texts" / "errors.es.toml").read_text(encoding="utf-8")
    entries: dict[str, str] = tomllib.loads(text)
    whole = {english: spanish for english, spanish in entries.items() if "{}" not in english}
    places = sorted((one for one in entries if "{}" in one), key=len, reverse=True)
    patterns = [(re.compile("(.+?)".join(map(re.escape, one.split("{}"))), re.DOTALL), entries[one]) for one in places]
    return whole, patterns
