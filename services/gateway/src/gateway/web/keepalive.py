"""A response in server-sent events: pieces as they come, and a comment after a pause."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.web.http_transport import CONNECTION, BoundedHttp

PAUSE = 10.0
"""Seconds of silence after which a comment is sent, so that no proxy closes the connection."""
TAKEN_WITHIN = 240.0
"""Seconds in which a client must take something of what waits for it; else its connection is cut."""
COMMENT = b": still at it\n\n"
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


def raw(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers as a response sends them."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


_HEADERS = raw(HEADERS)


Write = Callable[[bytes], Awaitable[None]]
"""Sends a piece; returns when the client has room for more."""
Source = Callable[[Write], Awaitable[None]]


class EventStream(Response):
    """Sends what the source writes at once, and a comment after each PAUSE of silence.

    The source runs in the request's own task, so that its own deadlines work. It is cancelled when the client goes.
    """

    def __init__(self, source: Source, headers: list[tuple[bytes, bytes]] = _HEADERS) -> None:
        self.status_code = 200
        self.background = None
        self.raw_headers = headers
        self._source = source
        self._send: Send
        self._begun = False
        self._sending = False
        self._gone = False
        self._sent_at = 0.0
        self._comment: asyncio.Task[None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self._send = send
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        connection: BoundedHttp = scope[CONNECTION]

        def lost() -> None:
            self._gone = True
            if task is not None:
                task.cancel()

        def pause() -> None:
            nonlocal timer
            left = self._sent_at + PAUSE - time.monotonic()
            if left <= 0:
                left = PAUSE
                if not self._sending:
                    self._comment = loop.create_task(self._write(COMMENT))
                elif time.monotonic() > self._sent_at + TAKEN_WITHIN:
                    connection.abort()
            timer = loop.call_later(left, pause)

        self._sent_at = time.monotonic()
        timer = loop.call_later(PAUSE, pause)
        connection.watch(lost)
        try:
            # It begins whatever comes: what it holds open is closed by itself alone.
            await self._source(self._write)
            self._sending = True
            await self._send({"type": "http.response.body", "body": b"", "more_body": False})
        except asyncio.CancelledError:
            if not self._gone or task is None:
                raise
            task.uncancel()
        finally:
            connection.watch(None)
            timer.cancel()
            if self._comment is not None:
                self._comment.cancel()

    async def _write(self, piece: bytes) -> None:
        self._sending = True
        if not self._begun:
            self._begun = True
            await self._send({"type": "http.response.start", "status": self.status_code, "headers": self.raw_headers})
        await self._send({"type": "http.response.body", "body": piece, "more_body": True})
        self._sending = False
        self._sent_at = time.monotonic()
