"""A socket whose frames are read in this process instead of being sent. Doors follow conversations with it."""

import asyncio
from collections import deque

import orjson

from gateway.domain.close_codes import REASONS, CloseCode
from gateway.errors import GatewayError, UnavailableError

MAX_QUEUED_BYTES = 1024 * 1024
"""Bytes that may be queued for the reader, as for a websocket, before the last frame that is accepted."""


class FrameQueue:
    """A ports.Socket for one reader. As on a websocket, a reader that is too slow is cut off."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._queued_bytes = 0
        self._reader_wakeup: asyncio.Future[None] | None = None
        self._room_wakeup: asyncio.Future[None] | None = None
        self._error: GatewayError | None = None

    def push(self, frame: bytes) -> None:
        """Queues a frame; ignored after the end."""
        if self._error is not None:
            return
        if self._queued_bytes > MAX_QUEUED_BYTES:
            self.terminate(CloseCode.SLOW_CLIENT)
            return
        self._frames.append(frame)
        self._queued_bytes += len(frame)
        if (reader := self._reader_wakeup) is not None:
            self._reader_wakeup = None
            _wake(reader)

    def terminate(self, code: CloseCode) -> None:
        """Ends the queue; the reader gets UnavailableError."""
        self.fail(UnavailableError(REASONS[code]))

    def fail(self, error: GatewayError) -> None:
        """Ends the queue: the reader gets this error after the queued frames."""
        self._error = self._error or error
        _wake(self._reader_wakeup)
        _wake(self._room_wakeup)

    async def drained(self) -> None:
        """Waits until the reader has caught up."""
        while self._queued_bytes > MAX_QUEUED_BYTES // 2 and self._error is None:
            self._room_wakeup = asyncio.get_running_loop().create_future()
            await self._room_wakeup

    async def arrived(self) -> None:
        """Waits until `next` has a frame; raises the error that ended the queue."""
        while not self._frames:
            if self._error is not None:
                raise self._error
            self._reader_wakeup = asyncio.get_running_loop().create_future()
            await self._reader_wakeup

    def next(self) -> dict[str, object] | None:
        """The next frame; None if all that have arrived were read."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self._queued_bytes -= len(frame)
        if self._room_wakeup is not None and self._queued_bytes <= MAX_QUEUED_BYTES // 2:
            _wake(self._room_wakeup)
        return orjson.loads(frame)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
