"""Errors in the reader's language: they are raised in English and translated here, when they are sent, by
texts/errors.<language>.toml. Errors without an entry stay in English, as do those of /v1, A2A and MCP, whose clients
are programs."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from contracts.languages import Language

LONGEST = 2_000
"""Characters of the longest text that is looked up."""
_LAST_OR = re.compile(r"(?<=') or (?=')")
"""The last `or` of a list of choices inserted into a text."""
_FILE = re.compile(r"errors\.(\w+)\.toml")
_Texts = tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]
"""The texts without placeholders, and patterns for the others, those with the most fixed text first."""
_FIELD = re.compile(r"(?P<field>[^\W\d_][\w.\[\]-]{0,200}): (?P<said>.+)", re.DOTALL)


def in_language(said: str, language: Language | None) -> str:
    """An error's text in this language; None: no language was given."""
    texts = _translations().get(language or "")
    return said if texts is None or len(said) > LONGEST else _translated(said, texts)


def _translated(said: str, texts: _Texts) -> str:
    whole, with_places = texts
    if (known := whole.get(said)) is not None:
        return known
    if "; " in said and (parts := said.split("; ")) and all(_FIELD.fullmatch(one) for one in parts):
        return "; ".join(_translated(one, texts) for one in parts)
    if (about := _FIELD.fullmatch(said)) is not None and (told := _translated(about["said"], texts)) != about["said"]:
        return f"{about['field']}: {told}"
    for pattern, translation in with_places:
        if (found := pattern.fullmatch(said)) is not None:
            inside = (_LAST_OR.sub(f" {whole['or']} ", one) for one in found.groups())
            return translation.format(*(_translated(one, texts) for one in inside))
    return said


@cache
def _translations() -> Mapping[str, _Texts]:
    """The texts of each language that has a file."""
    found = ((_FILE.fullmatch(file.name), file) for file in (files("gateway") / "texts").iterdir())
    return {name[1]: _texts(file.read_text(encoding="utf-8")) for name, file in found if name}


def _texts(file: str) -> _Texts:
    entries: dict[str, str] = tomllib.loads(file)
    whole = {english: translation for english, translation in entries.items() if "{}" not in english}
    places = sorted((one for one in entries if "{}" in one), key=len, reverse=True)
    patterns = [(re.compile("(.+?)".join(map(re.escape, one.split("{}"))), re.DOTALL), entries[one]) for one in places]
    return whole, patterns
