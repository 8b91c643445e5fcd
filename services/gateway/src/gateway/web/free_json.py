"""Checks the parts of a body that are free JSON (a patch, a tool's arguments) and are sent over the bus in one
message."""

import json
from typing import Any

import orjson
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode
from gateway.errors import RefusedError

MAX_BYTES = 256 * 1024
"""Bytes of settings or a patch at most; anything within their own bounds is smaller."""


def merge_patch_body(description: str) -> dict[str, Any]:
    """What OpenAPI says of a body that is a merge patch (RFC 7396)."""
    schema = {"type": "object", "description": description}
    media_types = ("application/merge-patch+json", "application/json")
    return {"requestBody": {"required": True, "content": {name: {"schema": schema} for name in media_types}}}


def check_json(body: dict[str, Any]) -> None:
    """Raises 413 if the body is too large, BAD_FIELD if it contains half a surrogate pair or a number that is not
    finite.

    Python's parser accepts both. On the bus a NaN would become null, which resets a field to its default.
    """
    try:
        size = len(orjson.dumps(body))
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RefusedError(ErrorCode.BAD_FIELD, "the body holds text or numbers that JSON cannot carry on") from error
    if size > MAX_BYTES:
        raise HTTPException(413, f"send at most {MAX_BYTES} bytes")
