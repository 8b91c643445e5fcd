"""How much of free-form JSON a body may hold: it goes over the bus as it is, whose messages have a limit."""

import orjson
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode
from gateway.errors import Refused

MOST_BYTES = 256 * 1024
"""Of settings or a patch; whatever fits their bounds is smaller."""


def check_size(body: dict[str, object]) -> None:
    """Raises 413 when it is too large, BAD_FIELD when it holds what JSON cannot carry on (half a character)."""
    try:
        size = len(orjson.dumps(body))
    except TypeError as error:
        raise Refused(ErrorCode.BAD_FIELD, "the body holds text or numbers that JSON cannot carry on") from error
    if size > MOST_BYTES:
        raise HTTPException(413, f"send at most {MOST_BYTES} bytes")
