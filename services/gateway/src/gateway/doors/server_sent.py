"""Server-sent events; gateway.web.keepalive sends them."""

from collections.abc import Iterable
from typing import Any

import orjson


def event(data: dict[str, Any]) -> bytes:
    """One event."""
    return b"data: " + orjson.dumps(data) + b"\n\n"


def events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several."""
    return b"".join([b"data: " + orjson.dumps(one) + b"\n\n" for one in data])


def named_events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several, whose `type` is their name on the wire too."""
    return b"".join([b"event: %b\ndata: %b\n\n" % (one["type"].encode(), orjson.dumps(one)) for one in data])
