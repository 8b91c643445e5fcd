"""What a JSON Schema finds wrong with an argument, in both languages, by the keyword that found it."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from contracts.ids import ID_PATTERN
from contracts.text import Text
from contracts.tools.arguments import NOT_BLANK, SYMBOL_PATTERN

_LONGEST = 300
_UNKNOWN = Text(es="no existe: quítalo", en="there is no such argument: leave it out")
_SAID: Mapping[str, Text] = {
    "required": Text(es="es obligatorio", en="is required"),
    "additionalProperties": _UNKNOWN,
    "falseSchema": _UNKNOWN,
    "type": Text(es="debe ser {}", en="must be {}"),
    "enum": Text(es="debe ser uno de estos valores: {}", en="must be one of: {}"),
    "const": Text(es="debe ser {}", en="must be {}"),
    "minimum": Text(es="debe ser {} o más", en="must be {} or more"),
    "maximum": Text(es="debe ser {} o menos", en="must be {} or less"),
    "exclusiveMinimum": Text(es="debe ser mayor que {}", en="must be greater than {}"),
    "exclusiveMaximum": Text(es="debe ser menor que {}", en="must be less than {}"),
    "multipleOf": Text(es="debe ser múltiplo de {}", en="must be a multiple of {}"),
    "minLength": Text(es="debe tener al menos {} caracteres", en="must have at least {} characters"),
    "maxLength": Text(es="debe tener como mucho {} caracteres", en="must have at most {} characters"),
    "minItems": Text(es="debe tener al menos {} elementos", en="must have at least {} items"),
    "maxItems": Text(es="debe tener como mucho {} elementos", en="must have at most {} items"),
    "uniqueItems": Text(es="no debe tener elementos repetidos", en="must have no item twice"),
}
_OF_ONE: Mapping[str, Text] = {
    "minLength": Text(es="no puede estar vacío", en="must not be empty"),
    "maxLength": Text(es="debe tener como mucho un carácter", en="must have at most one character"),
    "minItems": Text(es="no puede estar vacío", en="must not be empty"),
    "maxItems": Text(es="debe tener como mucho un elemento", en="must have at most one item"),
}
"""The same where what is asked for is one."""
_TYPES: Mapping[str, Text] = {
    "string": Text(es="un texto", en="a string"),
    "number": Text(es="un número", en="a number"),
    "integer": Text(es="un número entero", en="an integer"),
    "boolean": Text(es="true o false", en="true or false"),
    "array": Text(es="una lista", en="an array"),
    "object": Text(es="un objeto", en="an object"),
    "null": Text(es="null", en="null"),
}

_FORMS: Mapping[str, Text] = {
    SYMBOL_PATTERN: Text(
        es="no es un símbolo: una acción se escribe AAPL o BRK.B, un índice ^GSPC, un par BTC/USD",
        en="is not a symbol: write a stock as AAPL or BRK.B, an index as ^GSPC, a pair as BTC/USD",
    ),
    ID_PATTERN: Text(
        es="no es un identificador: lleva de 1 a 64 letras sin acento, cifras, guiones o guiones bajos",
        en="is not an id: it has 1 to 64 plain letters, digits, dashes or underscores",
    ),
    NOT_BLANK: Text(es="no puede estar en blanco", en="must not be blank"),
}
"""What the catalogue's own patterns ask for, in words: a regular expression is none."""
_FORM = Text(es="no tiene la forma que se pide", en="does not have the form that is asked for")


def form_worded(pattern: str, description: str | None) -> Text:
    """What is asked for by a pattern, without the pattern; for one that is not the catalogue's, by what its schema
    says of the argument."""
    known = _FORMS.get(pattern, _FORM)
    if known is not _FORM or not description:
        return known
    return Text(es=f"{known.es}: {description}"[:_LONGEST], en=f"{known.en}: {description}"[:_LONGEST])


def not_null(message: Text) -> Text:
    return Text(es=f"no puede ser null: {message.es}", en=f"must not be null: {message.en}")


def worded(keyword: str, value: Any, message: str) -> Text | str:
    """The words for `keyword` and what it asks for (`value`, as the schema has it); `message`, as the validator says
    it, where there are none."""
    said = _OF_ONE.get(keyword) if value == 1 else None
    said = said or _SAID.get(keyword)
    if said is None:
        return message[:_LONGEST]
    es, en = _asked(keyword, value, lambda text: text.es), _asked(keyword, value, lambda text: text.en)
    return Text(es=said.es.format(es)[:_LONGEST], en=said.en.format(en)[:_LONGEST])


def _asked(keyword: str, value: Any, side: Callable[[Text], str]) -> str:
    match keyword:
        case "type":
            return side(Text(es=" o ", en=" or ")).join(
                side(_TYPES[name]) for name in sorted(value, key=list(_TYPES).index)
            )
        case "enum":
            return ", ".join(_plain(option) for option in value)
        case _:
            return _plain(value)


def _plain(value: Any) -> str:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
