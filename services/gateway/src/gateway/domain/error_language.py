"""Errors in the reader's language. They are raised in English and translated when they are sent: by
texts/errors.<language>.toml, and what is wrong with a file by gateway.texts. Errors without an entry stay in
English, as do those of /v1, A2A and MCP, whose clients are programs."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from contracts.languages import Language
from gateway.texts import TEXTS

MAX_CHARACTERS = 2_000
"""The longest text, in characters, that is translated."""
_LAST_OR = re.compile(r"(?<=') or (?=')")
"""The last `or` of a list of choices that was inserted into a text."""
_FILE = re.compile(r"errors\.(\w+)\.toml")
_PLACEHOLDER = re.compile(r"\{(\w+)[^}]*\}")
_Texts = tuple[dict[str, str], list[tuple[re.Pattern[str], str]]]
"""Translations by English text, and patterns of texts with placeholders with their translations, longest text first."""
_FIELD = re.compile(r"(?P<field>[^\W\d_][\w.\[\]-]{0,200}): (?P<message>.+)", re.DOTALL)


def in_language(message: str, language: Language | None) -> str:
    """An error's text in this language; unchanged if the language is None or has no translation of it."""
    texts = _translations().get(language or "")
    return message if texts is None or len(message) > MAX_CHARACTERS else _translated(message, texts)


def _translated(message: str, texts: _Texts) -> str:
    exact, patterns = texts
    if (translation := exact.get(message)) is not None:
        return translation
    if "; " in message and (parts := message.split("; ")) and all(_FIELD.fullmatch(part) for part in parts):
        return "; ".join(_translated(part, texts) for part in parts)
    if (field_match := _FIELD.fullmatch(message)) is not None:
        translation = _translated(field_match["message"], texts)
        if translation != field_match["message"]:
            return f"{field_match['field']}: {translation}"
    for pattern, template in patterns:
        if (match := pattern.fullmatch(message)) is not None:
            values = (_LAST_OR.sub(f" {exact['or']} ", value) for value in match.groups())
            return template.format(*(_translated(value, texts) for value in values))
    return message


@cache
def _translations() -> Mapping[str, _Texts]:
    """The translations of each language that has a file."""
    matches = ((_FILE.fullmatch(file.name), file) for file in (files("gateway") / "texts").iterdir())
    return {
        match[1]: _parsed(tomllib.loads(file.read_text(encoding="utf-8")) | _file_errors(match[1]))
        for match, file in matches
        if match
    }


def _file_errors(language: str) -> dict[str, str]:
    """What gateway.texts says of files, with placeholders as in the files of errors."""
    entries: dict[str, str] = {}
    for text in TEXTS.section("file").values():
        english = str(text)
        names = _PLACEHOLDER.findall(english)
        entries[_PLACEHOLDER.sub("{}", english)] = _PLACEHOLDER.sub(
            lambda match, names=names: f"{{{names.index(match[1])}}}", text.in_language(language)
        )
    return entries


def _parsed(entries: Mapping[str, str]) -> _Texts:
    exact = {english: translation for english, translation in entries.items() if "{}" not in english}
    templates = sorted((template for template in entries if "{}" in template), key=len, reverse=True)
    patterns = [
        (re.compile("(.+?)".join(map(re.escape, template.split("{}"))), re.DOTALL), entries[template])
        for template in templates
    ]
    return exact, patterns
