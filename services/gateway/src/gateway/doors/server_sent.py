"""Server-sent events; gateway.web.keepalive sends them."""

from collections.abc import Iterable
from typing import Any

import orjson


def event(data: dict[str, Any]) -> bytes:
    """One event."""
    return b"data: " + orjson.dumps(data) + b"\n\n"


def events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several."""
    return b"".join([b"data: " + orjson.dumps(event_data) + b"\n\n" for event_data in data])


def named_events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several, whose `type` is their name on the wire too."""
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event_data["type"].encode(), orjson.dumps(event_data)) for event_data in data]
    )
