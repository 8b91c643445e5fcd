"""uvicorn's HTTP protocol over its compiled parser, which bounds nothing by itself: neither a head, nor one of its
lines, nor what follows a body, nor the time in which a head comes. Here all that is no body has a bound.
"""

import asyncio
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Bytes that may come in a row of which none is a body's, as h11 has it for a head."""
IDLE = 75
"""Seconds that a connection is kept between requests: longer than balancers keep theirs (60 s), so that none sends a
request into one that closes."""
HEAD_WITHIN = 60.0
"""Seconds in which a head has come, once a connection is open or the head has begun: as long as a body may take."""
GRACE = 0.2
"""Seconds in which what has come is read before an idle connection is closed."""


class BoundedHttp(HttpToolsProtocol):
    """Answers 400 to a client that says too much about its request, and closes no connection over a request unread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._head = 0
        self._in_request = False
        self._head_due: asyncio.TimerHandle | None = None
        super().__init__(*args, **kwargs)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head(HEAD_WITHIN)

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
        elif self._head and not self._in_request and self._head_due is None:
            self._await_head(HEAD_WITHIN)

    def on_headers_complete(self) -> None:
        self._in_request = True
        self._have_head()
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._in_request = False
        super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """uvloop runs what is due before it reads: a process that stood still would drop what was sent meanwhile."""
        due = self.loop.time() + GRACE
        self.timeout_keep_alive_task = self.loop.call_later(GRACE, self._close_idle, due)

    def _close_idle(self, due: float) -> None:
        if self.loop.time() > due + GRACE:  # it stood still once more
            self.timeout_keep_alive_handler()
        else:
            super().timeout_keep_alive_handler()

    def _await_head(self, seconds: float) -> None:
        self._head_due = self.loop.call_later(seconds, self._refuse_head, self.loop.time() + seconds)

    def _have_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _refuse_head(self, due: float) -> None:
        if self.loop.time() > due + GRACE:
            self._await_head(GRACE)
        elif self._head and not self.transport.is_closing():
            self.send_400_response("The head of the request did not come in time.")
        else:
            self.transport.close()
