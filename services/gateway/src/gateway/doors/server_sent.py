"""Server-sent events, kept alive while there is nothing to say."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import orjson
from fastapi.responses import StreamingResponse

KEEP_ALIVE = 10.0
"""Seconds between two comments, so that nobody between here and there hangs up."""
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """One event; `name` is its type on the wire, where the protocol has one."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + orjson.dumps(data) + b"\n\n"


def stream(parts: AsyncGenerator[bytes]) -> StreamingResponse:
    """The response that sends the parts as they come; a client that goes closes them."""
    return StreamingResponse(kept_alive(parts), media_type="text/event-stream", headers=_HEADERS)


async def kept_alive(parts: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The parts, with a comment wherever nothing comes for a while."""
    waiting: asyncio.Task[bytes] | None = None
    try:
        while True:
            waiting = waiting or asyncio.ensure_future(_next(parts))
            done, _ = await asyncio.wait((waiting,), timeout=KEEP_ALIVE)
            if not done:
                yield b": still at it\n\n"
                continue
            part, waiting = waiting.result(), None
            if not part:
                return
            yield part
    finally:
        if waiting is not None:
            waiting.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await waiting
        await parts.aclose()


async def _next(parts: AsyncGenerator[bytes]) -> bytes:
    """The next part; nothing at the end (a task cannot end with StopAsyncIteration)."""
    return await anext(parts, b"")
