"""Messages for people about wrong fields, chosen by an error's type and context instead of pydantic's text.

The types: https://docs.pydantic.dev/latest/errors/validation_errors/
"""

import re
from collections.abc import Mapping
from typing import Any, get_args

from pydantic_core.core_schema import ErrorType

from contracts.ids import COMPANY_PATTERN, ID_PATTERN, UUID_PATTERN

_FORMS: Mapping[str, str] = {
    ID_PATTERN: "must be 1 to 64 plain letters, digits, dashes or underscores",
    COMPANY_PATTERN: "must be 1 to 64 lower-case letters, digits or dashes",
    r"^https?://": "must begin with https:// or http://",
    r"^#[0-9a-fA-F]{6}$": "must be a colour such as #1a2b3c",
    r"^[^\s@]+@[^\s@]+$": "must be an e-mail address such as ana@example.com",
    r"^[^\x00-\x1f/]+$": "must be a name without slashes or line breaks",
    r"^[a-z0-9_-]{1,40}$": "must be 1 to 40 lower-case letters, digits, dashes or underscores",
    r"^[a-z][a-z0-9_]{0,47}$": "must be a name such as order_status: lower-case letters, digits and underscores",
    r"^[a-z][a-z0-9]{0,15}$": "must be a name such as agenda: at most 16 lower-case letters and digits",
    r"^[A-Za-z0-9_-]{1,47}$": "must be 1 to 47 plain letters, digits, dashes or underscores",
    r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$": "must be the name of a header such as X-Api-Key",
    UUID_PATTERN: "must be a UUID such as 123e4567-e89b-42d3-a456-426614174000",
}
_FORM = "does not have the form that is asked for"
_LIST, _NUMBER, _OBJECT = "a list", "a number", "an object"
_KINDS: Mapping[str, str] = {
    "bool": "true or false",
    "bytes": "text",
    "dataclass": _OBJECT,
    "date": "a date such as 2026-11-22",
    "datetime": "a time such as 2026-11-22T09:00:00Z",
    "decimal": _NUMBER,
    "dict": _OBJECT,
    "finite": _NUMBER,
    "float": _NUMBER,
    "frozen_set": _LIST,
    "int": "a whole number",
    "iterable": _LIST,
    "list": _LIST,
    "mapping": _OBJECT,
    "model": _OBJECT,
    "model_attributes": _OBJECT,
    "set": _LIST,
    "string": "text",
    "time": "a time of day such as 09:00",
    "time_delta": "a duration such as PT1H30M",
    "timezone": "a time such as 2026-11-22T09:00:00Z",
    "tuple": _LIST,
    "url": "an address such as https://www.example.com/path",
    "uuid": "a UUID such as 123e4567-e89b-42d3-a456-426614174000",
}
"""What a value must be, by the start of an error's type."""
_KIND = re.compile(
    r"(.+?)_(?:type|number|(?:parsing|from|naive|aware|offset|syntax|scheme|version|object_invalid|invalid)(?:_\w+)?)"
)
_MESSAGES: Mapping[str, str] = {
    "bytes_too_long": "must have at most {max_length} bytes",
    "bytes_too_short": "must have at least {min_length} bytes",
    "date_future": "must be in the future",
    "date_past": "must be in the past",
    "datetime_future": "must be in the future",
    "datetime_past": "must be in the past",
    "decimal_max_digits": "must have at most {max_digits} digits",
    "decimal_max_places": "must have at most {decimal_places} decimal places",
    "decimal_whole_digits": "must have at most {whole_digits} digits before the decimal point",
    "enum": "must be {expected}",
    "extra_forbidden": "there is no such field",
    "greater_than": "must be greater than {gt}",
    "greater_than_equal": "must be {ge} or more",
    "int_parsing_size": "must be a whole number with fewer digits",
    "json_invalid": "is not JSON",
    "json_type": "is not JSON",
    "less_than": "must be less than {lt}",
    "less_than_equal": "must be {le} or less",
    "literal_error": "must be {expected}",
    "missing": "is required",
    "multiple_of": "must be a multiple of {multiple_of}",
    "none_required": "must be null",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_unicode": "contains half a character: write it again",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
    "union_tag_invalid": "{discriminator} must be one of {expected_tags}",
    "union_tag_not_found": "{discriminator} is required",
    "url_too_long": "must have at most {max_length} characters",
}
_PYDANTIC_TYPES = frozenset(get_args(ErrorType)) - {"value_error", "assertion_error"}
"""Types whose texts are pydantic's own."""


def message_of(error: Mapping[str, Any]) -> str:
    """Returns the message for one error of a pydantic ValidationError."""
    kind = str(error["type"])
    context: Mapping[str, Any] = error.get("ctx") or {}
    if kind == "string_pattern_mismatch":
        return _FORMS.get(context.get("pattern", ""), _FORM)
    if context.get("min_length") == 1:
        return "must not be empty"
    if kind in _MESSAGES:
        return _MESSAGES[kind].format_map({name: _plain(value) for name, value in context.items()})
    if (match := _KIND.fullmatch(kind)) and match[1] in _KINDS:
        is_whole_body = _KINDS[match[1]] is _OBJECT and tuple(error.get("loc", ())) == ("body",)
        return (
            "must be a JSON object: send Content-Type: application/json"
            if is_whole_body
            else f"must be {_KINDS[match[1]]}"
        )
    if kind in _PYDANTIC_TYPES:
        return _FORM
    return str(error["msg"]).removeprefix("Value error, ").removeprefix("Assertion failed, ")


def _plain(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value
