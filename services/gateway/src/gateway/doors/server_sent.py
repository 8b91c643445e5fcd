"""Server-sent events; gateway.web.keepalive sends them."""

from collections.abc import Iterable
from typing import Any

import orjson


def event(data: dict[str, Any]) -> bytes:
    """An event."""
    return b"data: " + orjson.dumps(data) + b"\n\n"


def events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several events."""
    return b"".join([b"data: " + orjson.dumps(event_data) + b"\n\n" for event_data in data])


def named_events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several events, each with its `type` as the event's name."""
    return b"".join(
        [b"event: %b\ndata: %b\n\n" % (event_data["type"].encode(), orjson.dumps(event_data)) for event_data in data]
    )
