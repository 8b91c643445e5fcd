"""What an error says, in the language of whoever is told: errors are raised in English and put into Spanish here, where
they leave (texts/errors.es.toml). What has no entry there stays in English, as do the doors of other people's
protocols, whose clients are programs.
"""

import re
import tomllib
from functools import cache
from importlib.resources import files

from contracts.languages import Language

LONGEST = 2_000
"""Characters of a text that is looked up."""
_FIELD = re.compile(r"(?P<field>[A-Za-z][A-Za-z0-9_.\[\]-]{0,200}): (?P<said>.+)", re.DOTALL)


def in_language(said: str, language: Language | None) -> str:
    """The text of an error in this language; None: nobody has named one."""
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
            return spanish.format(*(_joined(one) for one in found.groups()))
    return said


def _joined(value: str) -> str:
    """Where a list of choices is put into a text, its last `or`."""
    return re.sub(r"(?<=') or (?=')", " o ", value)


@cache
def _table() -> tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]:
    """The texts without places, and the patterns of the others: the more they say themselves, the earlier."""
    text = (files("gateway") / "texts" / "errors.es.toml").read_text(encoding="utf-8")
    entries: dict[str, str] = tomllib.loads(text)
    whole = {english: spanish for english, spanish in entries.items() if "{}" not in english}
    places = sorted((one for one in entries if "{}" in one), key=len, reverse=True)
    patterns = [(re.compile("(.+?)".join(map(re.escape, one.split("{}"))), re.DOTALL), entries[one]) for one in places]
    return whole, patterns
