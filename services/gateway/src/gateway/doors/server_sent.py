"""Server-sent events, kept alive while there is nothing to say."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress
from typing import Any

import orjson
from fastapi.responses import StreamingResponse

KEEP_ALIVE = 10.0
"""Seconds between two comments, so that nobody between here and there hangs up."""
AHEAD = 16
"""Parts that may wait for the client to read."""
_HEADERS = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}


def event(data: dict[str, Any], name: str | None = None) -> bytes:
    """One event; `name` is its type on the wire, where the protocol has one."""
    head = f"event: {name}\n".encode() if name else b""
    return head + b"data: " + orjson.dumps(data) + b"\n\n"


def stream(parts: AsyncGenerator[bytes]) -> StreamingResponse:
    """The response that sends the parts as they come; a client that goes closes them."""
    return StreamingResponse(kept_alive(parts), media_type="text/event-stream", headers=_HEADERS)


async def kept_alive(parts: AsyncGenerator[bytes]) -> AsyncGenerator[bytes]:
    """The parts, with a comment wherever nothing comes for a while. One task makes all of them: a deadline inside is
    that task's own, and would never come if each part were made in another.
    """
    ready: asyncio.Queue[bytes] = asyncio.Queue(AHEAD)
    making = asyncio.create_task(_make(parts, ready))
    try:
        while not (making.done() and ready.empty()):
            if not ready.empty():
                yield ready.get_nowait()
                continue
            getting = asyncio.ensure_future(ready.get())
            await asyncio.wait((getting, making), timeout=KEEP_ALIVE, return_when=asyncio.FIRST_COMPLETED)
            if getting.done():
                yield getting.result()
                continue
            getting.cancel()
            if not making.done():
                yield b": still at it\n\n"
        await making
    finally:
        making.cancel()
        with suppress(asyncio.CancelledError, Exception):
            await making


async def _make(parts: AsyncGenerator[bytes], ready: asyncio.Queue[bytes]) -> None:
    async with aclosing(parts):
        async for part in parts:
            await ready.put(part)
