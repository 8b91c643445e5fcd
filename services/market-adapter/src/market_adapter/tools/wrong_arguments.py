"""What is wrong with a tool's arguments, said to a person in both languages: never in the validator's own phrases."""

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from contracts.errors import FieldFault
from contracts.text import Text

_INVALID = Text(es="no es válido", en="is not valid")
_SAID: Mapping[str, Text] = {
    "missing": Text(es="es obligatorio", en="is required"),
    "greater_than": Text(es="debe ser mayor que {gt}", en="must be greater than {gt}"),
    "greater_than_equal": Text(es="debe ser {ge} o más", en="must be {ge} or more"),
    "less_than_equal": Text(es="debe ser {le} o menos", en="must be {le} or less"),
    "decimal_max_places": Text(
        es="debe tener como mucho {decimal_places} decimales", en="must have at most {decimal_places} decimals"
    ),
    "decimal_max_digits": Text(
        es="debe tener como mucho {max_digits} cifras", en="must have at most {max_digits} digits"
    ),
    "decimal_whole_digits": Text(
        es="debe tener como mucho {whole_digits} cifras antes de la coma",
        en="must have at most {whole_digits} digits before the point",
    ),
    "string_too_short": Text(es="no puede estar vacío", en="must not be empty"),
    "string_too_long": Text(
        es="debe tener como mucho {max_length} caracteres", en="must have at most {max_length} characters"
    ),
    "too_short": Text(es="no puede estar vacío", en="must not be empty"),
    "too_long": Text(es="debe tener como mucho {max_length} elementos", en="must have at most {max_length} items"),
    "enum": Text(es="debe ser uno de estos valores: {expected}", en="must be one of: {expected}"),
    "price_needed": Text(es="{name}: una orden {order} lo necesita", en="{name}: a {order} order needs it"),
    "price_not_taken": Text(
        es="{name}: una orden {order} no lo tiene: quítalo", en="{name}: a {order} order has none: leave it out"
    ),
    "literal_error": Text(es="debe ser uno de estos valores: {expected}", en="must be one of: {expected}"),
}


def wrong_arguments(tool: str, error: ValidationError, language: str) -> str:
    """Each field that is wrong, and what it must be, in one line."""
    said = (f"{one.field}: {one.message}" if one.field else one.message for one in argument_faults(error, language))
    return f"{tool}: " + "; ".join(said)


def argument_faults(error: ValidationError, language: str) -> list[FieldFault]:
    """The same, field by field; no field where a rule says it of all the arguments together."""
    return [_fault(one, language) for one in error.errors(include_url=False, include_input=False)]


def _fault(error: Mapping[str, Any], language: str) -> FieldFault:
    said = _SAID.get(error["type"], _INVALID).said_in(language).format(**error.get("ctx", {}))
    return FieldFault(field=".".join(map(str, error["loc"])), message=said)
