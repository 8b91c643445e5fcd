"""Server-sent events; gateway.web.keepalive sends them."""

from collections.abc import Iterable
from typing import Any

import orjson


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """One event; `name`: its type on the wire, where the protocol has one."""
    if name is None:
        return b"data: " + orjson.dumps(data) + b"\n\n"
    return b"event: " + name.encode() + b"\ndata: " + orjson.dumps(data) + b"\n\n"


def events(data: Iterable[dict[str, Any]]) -> bytes:
    """Several, without names."""
    return b"".join([b"data: " + orjson.dumps(one) + b"\n\n" for one in data])
