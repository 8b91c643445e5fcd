"""uvicorn's HTTP protocol over its compiled parser, which bounds nothing by itself: neither a head, nor one of its
lines, nor what follows a body. Here all that is no body has a bound.
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Bytes that may come in a row of which none is a body's, as h11 has it for a head."""
IDLE = 75
"""Seconds that a connection is kept between requests: longer than balancers keep theirs (60 s), so that none sends a
request into one that closes."""
GRACE = 0.2
"""Seconds in which what has come is read before an idle connection is closed."""


class BoundedHttp(HttpToolsProtocol):
    """Answers 400 to a client that says too much about its request, and closes no connection over a request unread."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self._head = 0
        super().__init__(*args, **kwargs)

    def data_received(self, data: bytes) -> None:
        self._head += len(data)
        super().data_received(data)
        if self._head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too long.")

    def on_body(self, body: bytes) -> None:
        self._head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head = 0
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
