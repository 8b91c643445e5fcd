"""uvicorn's HTTP protocol over its compiled parser, with limits that the parser lacks: on a request's head, each of
its lines, what follows a body, and the time in which a head must arrive."""

import asyncio
from collections.abc import Callable
from typing import Any

from httptools import HttpParserError
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from runtime.http.read_deadline import GRACE_SECONDS, ReadDeadline

MOST_HEAD = 64 * 1024
"""Bytes in a row that belong to no body; h11's limit for a head."""
IDLE = 75
"""Seconds that a connection is kept between requests: longer than balancers keep theirs (60 s), so that none sends a
request into a closing one."""
HEAD_WITHIN = 60.0
"""Seconds for a head to arrive, from the connection or the head's first byte; as long as for a body."""
CONNECTION = "nexus.connection"
"""The connection (BoundedHttp) in a request's scope."""


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
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._have_head()
        super().connection_lost(exc)
        if self._lost is not None:
            self._lost()

    def watch(self, lost: Callable[[], object] | None) -> None:
        """Calls `lost` when the client has gone, also if it has gone already; None: nobody asks any more."""
        self._lost = lost
        if lost is not None and self.parser is None:  # connection_lost lets go of it
            lost()

    def abort(self) -> None:
        """Cuts the connection, with all that was not sent."""
        self.transport.abort()

    @property
    def has_request(self) -> bool:
        """Whether the whole request has arrived."""
        return not self._in_request

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[typeddict-unknown-key]

    def data_received(self, data: bytes) -> None:
        if not self._head:
            self._have_head()
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")
        elif self._head and not self._in_request and self._head_due is None:
            self._await_head()

    def on_headers_complete(self) -> None:
        self._in_request = True
        self._have_head()
        hosts = [name for name, _ in self.headers].count(b"host")
        old = self.parser is not None and self.parser.get_http_version() == "1.0"
        if hosts != 1 and (hosts or not old):
            # RFC 9112, section 3.2: a proxy before this one may have gone by another of them.
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
        """Reads first what arrived while the process was stopped."""
        self._have_head()
        self._head_due = ReadDeadline(GRACE_SECONDS, self._refuse_head)

    def _await_head(self) -> None:
        self._head_due = ReadDeadline(HEAD_WITHIN, self._refuse_head)

    def _have_head(self) -> None:
        if self._head_due is not None:
            self._head_due.cancel()
            self._head_due = None

    def _refuse_head(self) -> None:
        if self._head and not self.transport.is_closing():
            self.send_400_response("The head of the request did not come in time.")
        else:
            self.transport.close()
