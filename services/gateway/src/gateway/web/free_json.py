"""Checks the parts of a body that are free JSON (a patch, a tool's arguments) and go over the bus in one message."""

import json
from typing import Any

import orjson
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode
from gateway.errors import RefusedError

MOST_BYTES = 256 * 1024
"""The most bytes of settings or a patch; anything within their bounds is smaller."""


def check_json(body: dict[str, Any]) -> None:
    """Raises 413 if it is too large, BAD_FIELD if it contains half a surrogate pair or a number that is not finite.

    Python's parser takes both. On the bus a NaN would become null, which sets a field back to its default.
    """
    try:
        size = len(orjson.dumps(body))
        json.dumps(body, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise RefusedError(ErrorCode.BAD_FIELD, "the body holds text or numbers that JSON cannot carry on") from error
    if size > MOST_BYTES:
        raise HTTPException(413, f"send at most {MOST_BYTES} bytes")
