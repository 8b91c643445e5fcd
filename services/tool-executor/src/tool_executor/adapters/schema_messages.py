"""Explains in words what a JSON Schema finds wrong with an argument, by the keyword that failed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from contracts.ids import ID_PATTERN
from contracts.text import Text
from contracts.tools.arguments import NOT_BLANK, SYMBOL_PATTERN
from tool_executor.texts import TEXTS

_LONGEST = 300
_SAID = TEXTS.section("schema")
_OF_ONE = TEXTS.section("schema.of_one")
"""The same where what is asked for is one."""
_TYPES = TEXTS.section("schema.types")
_FORMS: Mapping[str, Text] = {
    SYMBOL_PATTERN: TEXTS["schema.forms.symbol"],
    ID_PATTERN: TEXTS["schema.forms.id"],
    NOT_BLANK: TEXTS["schema.forms.not_blank"],
}
"""Texts for the catalogue's own patterns; a regular expression itself explains nothing."""


def form_worded(pattern: str, description: str | None) -> Text:
    """Describes what a pattern requires without showing the pattern; for foreign tools by the schema's description
    of the argument."""
    known, other = _FORMS.get(pattern), TEXTS["schema.forms.other"]
    if known is None and description:
        return _short(Text(**{language: f"{text}: {description}" for language, text in other.by_language.items()}))
    return known or other


def not_null(message: Text) -> Text:
    return TEXTS["schema.null_refused"].format(message=message)


def worded(keyword: str, value: Any, message: str) -> Text | str:
    """The words for `keyword` with its `value` in the schema; if there are none, the validator's `message`."""
    said = _OF_ONE.get(keyword) if value == 1 else None
    said = said or _SAID.get(keyword)
    return message[:_LONGEST] if said is None else _short(said.format(_asked(keyword, value)))


def _asked(keyword: str, value: Any) -> Text | str:
    match keyword:
        case "type":
            return _either([_TYPES[name] for name in sorted(value, key=list(_TYPES).index)])
        case "enum":
            return ", ".join(_plain(option) for option in value)
        case _:
            return _plain(value)


def _either(texts: Sequence[Text]) -> Text:
    joined = texts[0]
    for text in texts[1:]:
        joined = TEXTS["schema.or"].format(joined, text)
    return joined


def _short(text: Text) -> Text:
    return Text(**{language: said[:_LONGEST] for language, said in text.by_language.items()})


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
