"""uvicorn's websocket protocol with this product's behaviour.

- Sending never waits. The transport's write buffer is the queue of the socket: it is bounded in bytes, and if it fills
  up the client is disconnected (4008). The queues of all sockets together are bounded too (slow_readers.py).
- A frame that is too big closes the socket with 4501 and a missing pong with 4012, instead of the RFC's codes.
- A close frame is sent even to a client that does not read; after a grace period the connection is aborted.
"""

from __future__ import annotations

import asyncio
from typing import Any, cast

from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.exceptions import InvalidState
from websockets.frames import CloseCode as RfcCloseCode
from websockets.http11 import Request
from websockets.server import ServerProtocol

from contracts.json_values import JsonObject
from gateway.domain.close_codes import REASONS, CloseCode
from gateway.metrics import CLOSED
from gateway.web.slow_readers import SLOW_READERS

SOCKET_EXTENSION = "nexus.socket"
MAX_BUFFERED_BYTES = 1024 * 1024
"""Bytes buffered for one client above which no further frame is accepted, so that any single frame can be sent."""
CLOSE_GRACE = 5.0
"""Seconds for the client to answer the close frame."""


class _Connection(ServerProtocol):
    """Uses the product's close code if a frame is too large."""

    def fail(self, code: int, reason: str = "") -> None:
        if code == RfcCloseCode.MESSAGE_TOO_BIG:
            code, reason = CloseCode.BAD_FRAME, REASONS[CloseCode.BAD_FRAME]
        super().fail(code, reason)


class ChatProtocol(WebSocketsSansIOProtocol):
    """A websocket that endpoints can push to directly (ports.Socket): scope["extensions"]["nexus.socket"]."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.conn = _Connection(max_size=self.config.ws_max_size, logger=self.conn.logger)
        self._failed = False

    # ------------------------------------------------------------------ ports.Socket

    def push(self, frame: bytes) -> None:
        if self.close_sent or self.disconnected or self.transport.is_closing():
            return
        if self.transport.get_write_buffer_size() > MAX_BUFFERED_BYTES:
            self.terminate(CloseCode.SLOW_CLIENT)
            return
        try:
            self.conn.send_text(frame)
        except InvalidState:
            return
        self.transport.write(b"".join(self.conn.data_to_send()))
        if not self.writable.is_set():
            SLOW_READERS.lags(self)

    def terminate(self, code: CloseCode) -> None:
        CLOSED.labels(int(code)).inc()
        self._close(int(code), REASONS[code])

    async def drained(self) -> None:
        await self.writable.wait()

    def cut_off(self) -> None:
        """Disconnects at once: a close frame would wait behind what the client does not read."""
        CLOSED.labels(int(CloseCode.SLOW_CLIENT)).inc()
        self.transport.abort()

    # ------------------------------------------------------------------ uvicorn's protocol

    def pause_writing(self) -> None:
        super().pause_writing()
        SLOW_READERS.lags(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        SLOW_READERS.caught_up(self)

    def connection_lost(self, exc: Exception | None) -> None:
        SLOW_READERS.caught_up(self)
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        # The task of the endpoint is created but has not started, so that it will find the socket in its scope.
        if hasattr(self, "scope"):
            cast(JsonObject, self.scope.get("extensions"))[SOCKET_EXTENSION] = self

    async def send(self, message: ASGISendEvent) -> None:
        if message["type"] == "websocket.close" and self.handshake_complete and self.initial_response is None:
            self._close(message.get("code", 1000), message.get("reason") or "")
            return
        await super().send(message)

    def keepalive_timeout(self) -> None:
        self.pong_timer = None
        self.pending_ping_payload = None
        self.terminate(CloseCode.NO_PONG)

    def handle_parser_exception(self) -> None:
        # The rest of the bad frame is read and discarded: closing with unread data would reset the connection before
        # the client sees the reason.
        if self._failed:
            return
        self._failed = True
        closing = self.conn.close_sent
        code = closing.code if closing is not None else int(RfcCloseCode.PROTOCOL_ERROR)
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": ""})
        self.transport.write(b"".join(self.conn.data_to_send()))
        # The parser can no longer recognise the client's close frame, so the end of our side must be enough.
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._sent_close()

    def _close(self, code: int, reason: str) -> None:
        if self.close_sent or self.disconnected or not self.handshake_complete or self.transport.is_closing():
            return
        self.queue.put_nowait({"type": "websocket.disconnect", "code": code, "reason": reason})
        try:
            self.conn.send_close(code, reason)
        except InvalidState:
            return
        self.transport.write(b"".join(self.conn.data_to_send()))
        self._sent_close()

    def _sent_close(self) -> None:
        self.close_sent = True
        self.stop_keepalive()
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        loop: asyncio.AbstractEventLoop = self.loop
        self.close_timer = loop.call_later(CLOSE_GRACE, self.transport.abort)
