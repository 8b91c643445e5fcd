"""Limits free-form JSON in a body, which goes over the bus in one message."""

import orjson
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode
from gateway.errors import Refused

MOST_BYTES = 256 * 1024
"""Of settings or a patch; anything within their bounds is smaller."""


def check_size(body: dict[str, object]) -> None:
    """Raises 413 if it is too large, BAD_FIELD if it contains half a surrogate pair, which cannot be passed on."""
    try:
        size = len(orjson.dumps(body))
    except TypeError as error:
        raise Refused(ErrorCode.BAD_FIELD, "the body holds text or numbers that JSON cannot carry on") from error
    if size > MOST_BYTES:
        raise HTTPException(413, f"send at most {MOST_BYTES} bytes")
