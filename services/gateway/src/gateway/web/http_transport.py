"""uvicorn's HTTP protocol over its compiled parser, with limits that the parser lacks: on the size of a request's head,
of each of its lines and of data after a body, and on the time in which a head must arrive."""

import asyncio
from collections.abc import Callable
from typing import Any

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from gateway.web.slow_readers import SLOW_READERS
from runtime.http.read_deadline import GRACE_SECONDS, ReadDeadline

MAX_HEAD_BYTES = 64 * 1024
"""Consecutive bytes outside bodies at most, such as a head; h11 has the same limit."""
IDLE_SECONDS = 75
"""Seconds for which an idle connection is kept: longer than balancers do (60 s), so that none sends a request into a
closing connection."""
HEAD_SECONDS = 60.0
"""Seconds for a head to arrive, from the start of the connection or its first byte; the same as for a body."""
CONNECTION = "nexus.connection"
"""Key of the connection (BoundedHttp) in a request's scope."""


class BoundedHttp(HttpToolsProtocol):
    """Answers 400 to a head that is too large, and never closes a connection with an unread request."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._lost: Callable[[], object] | None = None
        self._head = 0
        self._in_request = False
        self._head_due: ReadDeadline | None = None
        super().__init__(*args, **kwargs)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._start_head_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel_head_deadline()
        SLOW_READERS.caught_up(self)
        super().connection_lost(exc)
        if self._lost is not None:
            self._lost()

    def watch(self, on_lost: Callable[[], object] | None) -> None:
        """Calls `on_lost` when the client disconnects, or at once if it already has. None removes the callback."""
        self._lost = on_lost
        if on_lost is not None and self.parser is None:  # connection_lost has reset it
            on_lost()

    def cut_off(self) -> None:
        """Closes the connection without sending what is buffered."""
        self.transport.abort()

    def pause_writing(self) -> None:
        super().pause_writing()
        SLOW_READERS.lags(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        SLOW_READERS.caught_up(self)

    @property
    def has_request(self) -> bool:
        """Whether the whole request has arrived."""
        return not self._in_request

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[typeddict-unknown-key]

    def data_received(self, data: bytes) -> None:
        if not self._head:
            self._cancel_head_deadline()
        self._head += len(data)
        super().data_received(data)
        if self._head > MAX_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
        elif self._head and not self._in_request and self._head_due is None:
            self._start_head_deadline()

    def on_headers_complete(self) -> None:
        self._in_request = True
        self._cancel_head_deadline()
        hosts = [name for name, _ in self.headers].count(b"host")
        is_http_1_0 = self.parser is not None and self.parser.get_http_version() == "1.0"
        if hosts != 1 and (hosts or not is_http_1_0):
            # RFC 9112, section 3.2: a proxy in front may have used another of several Host headers.
            raise HttpParserError("a request names one Host")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
        self._in_request = False
        super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        """Gives data that arrived while the process was paused a moment to be read before the connection is closed."""
        self._cancel_head_deadline()
        self._head_due = ReadDeadline(GRACE_SECONDS, self._refuse_head)

    def _start_head_deadline(self) -> None:
        self._head_due = ReadDeadline(HEAD_SECONDS, self._refuse_head)

    def _cancel_head_deadline(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _refuse_head(self) -> None:
        if self._head and not self.transport.is_closing():
            self.send_400_response("The head of the request did not come in time.")
        else:
            self.transport.close()
