"""uvicorn's HTTP protocol over its compiled parser, which bounds nothing by itself: neither a head, nor one of its
lines, nor what follows a body. Here all that is no body has a bound.
"""

from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
"""Bytes that may come in a row of which none is a body's, as h11 has it for a head."""


class BoundedHttp(HttpToolsProtocol):
    """Answers 400 to a client that says too much about its request."""

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
