"""Checks the parts of a body that are free JSON (a patch, a tool's arguments) and are sent over the bus in one
message."""

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode, FieldFault
from contracts.json_values import fields_where
from gateway.errors import RefusedError

MAX_BYTES = 256 * 1024
"""Bytes of settings or a patch at most; anything within their own bounds is smaller."""


WRONG_FIELDS = "some fields are not valid"
HALF_A_CHARACTER = "contains half a character: write it again"
_NO_NUMBER = "must be a finite number of at most 64 bits"
_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**64 - 1
"""Whole numbers that orjson writes."""


def merge_patch_body(description: str) -> dict[str, Any]:
    """What OpenAPI says of a body that is a merge patch (RFC 7396)."""
    schema = {"type": "object", "description": description}
    media_types = ("application/merge-patch+json", "application/json")
    return {"requestBody": {"required": True, "content": {name: {"schema": schema} for name in media_types}}}


def check_json(body: dict[str, Any]) -> None:
    """Raises 413 if the body is too large, BAD_FIELD with the names of the fields that hold half a surrogate pair or a
    number that is not finite or, if whole, not of 64 bits.

    Python's parser accepts these. On the bus a NaN would become null, which resets a field to its default.
    """
    try:
        size = len(orjson.dumps(body))
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        faults = [*_faults(_is_half_a_character, body, HALF_A_CHARACTER), *_faults(_is_no_number, body, _NO_NUMBER)]
        raise RefusedError(ErrorCode.BAD_FIELD, WRONG_FIELDS, faults) from error
    if size > MAX_BYTES:
        raise HTTPException(413, f"send at most {MAX_BYTES} bytes")


def _faults(holds: Callable[[object], bool], body: dict[str, Any], message: str) -> Iterator[FieldFault]:
    for field in fields_where(holds, body):
        yield FieldFault(field=field.encode("utf-8", "replace").decode(), message=message)


def _is_half_a_character(value: object) -> bool:
    return isinstance(value, str) and any("\ud800" <= letter <= "\udfff" for letter in value)


def _is_no_number(value: object) -> bool:
    if isinstance(value, float):
        return not math.isfinite(value)
    return isinstance(value, int) and not _MIN_INTEGER <= value <= _MAX_INTEGER
