"""Server-sent events; gateway.web.keepalive sends them."""

from typing import Any

import orjson


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """One event; `name`: its type on the wire, where the protocol has one."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + orjson.dumps(data) + b"\n\n"
