"""Explains in words what is wrong with an argument, by the keyword of the JSON Schema that failed."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from contracts.ids import ID_PATTERN
from contracts.text import Text
from contracts.tools.arguments import NOT_BLANK, SYMBOL_PATTERN
from tool_executor.texts import TEXTS

_MAX_CHARS = 300
_MESSAGES = TEXTS.section("schema")
_OF_ONE = TEXTS.section("schema.of_one")
"""The messages in the singular."""
_TYPES = TEXTS.section("schema.types")
_FORMS: Mapping[str, Text] = {
    SYMBOL_PATTERN: TEXTS["schema.forms.symbol"],
    ID_PATTERN: TEXTS["schema.forms.id"],
    NOT_BLANK: TEXTS["schema.forms.not_blank"],
}
"""Texts for the catalogue's own patterns; a regular expression itself explains nothing."""


def pattern_message(pattern: str, description: str | None) -> Text:
    """Describes what a pattern requires, without the pattern; for foreign tools with the schema's description of the
    argument."""
    catalogue_text, other_text = _FORMS.get(pattern), TEXTS["schema.forms.other"]
    if catalogue_text is None and description:
        return _short(Text(**{language: f"{text}: {description}" for language, text in other_text.by_language.items()}))
    return catalogue_text or other_text


def null_message(message: Text) -> Text:
    return TEXTS["schema.null_refused"].format(message=message)


def message_of_keyword(keyword: str, value: Any, message: str) -> Text | str:
    """Returns the message for `keyword` with its `value` in the schema; without one, the validator's `message`."""
    template = _OF_ONE.get(keyword) if value == 1 else None
    template = template or _MESSAGES.get(keyword)
    return message[:_MAX_CHARS] if template is None else _short(template.format(_required_value(keyword, value)))


def _required_value(keyword: str, value: Any) -> Text | str:
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
    return Text(**{language: wording[:_MAX_CHARS] for language, wording in text.by_language.items()})


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
