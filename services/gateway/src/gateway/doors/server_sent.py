"""Server-sent events, kept alive while there is nothing to say."""

from collections.abc import AsyncGenerator, Mapping
from typing import Any

import orjson
from fastapi.responses import StreamingResponse

from gateway.web.keepalive import HEADERS, EventStream


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """One event; `name`: its type on the wire, where the protocol has one."""
    head = b"" if name is None else b"event: " + name.encode() + b"\n"
    return head + b"data: " + orjson.dumps(data) + b"\n\n"


def stream(parts: AsyncGenerator[bytes], headers: Mapping[str, str] = HEADERS) -> StreamingResponse:
    """The response that sends the parts as they come, kept alive; a client that goes closes them."""
    return EventStream(parts, headers)
