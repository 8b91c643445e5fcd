"""A response in pieces, with something that means nothing after each pause: for server-sent events a comment."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from gateway.web.http_transport import CONNECTION, BoundedHttp

PAUSE_SECONDS = 4.0
"""Seconds of silence after which something is sent, so that no proxy closes the connection and no client gives up:
httpx, which A2A's client uses as it is, waits 5 s."""
READ_SECONDS = 240.0
"""Seconds in which a client must read some of the data that waits for it; otherwise its connection is closed."""
COMMENT = b": still at it\n\n"
HEADERS = {
    "Content-Type": "text/event-stream; charset=utf-8",
    "Cache-Control": "no-cache",
    "X-Accel-Buffering": "no",
}


def asgi_headers(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Headers in the form that ASGI sends."""
    return [(name.lower().encode(), value.encode()) for name, value in headers.items()]


_HEADERS = asgi_headers(HEADERS)


Write = Callable[[bytes], Awaitable[None]]
"""Sends a piece and returns when the client has room for more."""
Source = Callable[[Write], Awaitable[None]]


class EventStream(Response):
    """Sends each piece of the source immediately, and `filler` after each PAUSE_SECONDS of silence.

    The source runs in the request's task, so that its deadlines work. It is cancelled when the client disconnects.
    """

    def __init__(self, source: Source, headers: list[tuple[bytes, bytes]] = _HEADERS, filler: bytes = COMMENT) -> None:
        self.status_code = 200
        self.background = None
        self.raw_headers = headers
        self._source = source
        self._filler = filler
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
            delay = self._sent_at + PAUSE_SECONDS - time.monotonic()
            if delay <= 0:
                delay = PAUSE_SECONDS
                if not self._sending:
                    self._comment = loop.create_task(self._write(self._filler))
                elif time.monotonic() > self._sent_at + READ_SECONDS:
                    connection.cut_off()
            timer = loop.call_later(delay, pause)

        self._sent_at = time.monotonic()
        timer = loop.call_later(PAUSE_SECONDS, pause)
        connection.watch(lost)
        try:
            # The source is always started, since only it closes the resources that it holds.
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
