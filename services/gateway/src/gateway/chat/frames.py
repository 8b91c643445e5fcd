"""A socket whose frames are read in this process instead of being sent; doors use it to follow a conversation."""

import asyncio
from collections import deque

import orjson

from gateway.domain.close_codes import REASONS, CloseCode
from gateway.errors import GatewayError, UnavailableError

MOST_WAITING = 1024 * 1024
"""Bytes that may wait for the reader, as for a websocket; one more frame is accepted."""


class FrameQueue:
    """A ports.Socket for one reader; a reader that is too slow ends it, as on a websocket."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._reader: asyncio.Future[None] | None = None
        self._room: asyncio.Future[None] | None = None
        self._error: GatewayError | None = None

    def push(self, frame: bytes) -> None:
        """Queues a frame; ignored after the end."""
        if self._error is not None:
            return
        if self._waiting > MOST_WAITING:
            self.terminate(CloseCode.SLOW_CLIENT)
            return
        self._frames.append(frame)
        self._waiting += len(frame)
        if (reader := self._reader) is not None:
            self._reader = None
            _wake(reader)

    def terminate(self, code: CloseCode) -> None:
        """Ends it: the reader is told to come again."""
        self.fail(UnavailableError(REASONS[code]))

    def fail(self, error: GatewayError) -> None:
        """Ends it with this error, after the queued frames."""
        self._error = self._error or error
        _wake(self._reader)
        _wake(self._room)

    async def drained(self) -> None:
        """Waits until the reader has caught up."""
        while self._waiting > MOST_WAITING // 2 and self._error is None:
            self._room = asyncio.get_running_loop().create_future()
            await self._room

    async def arrived(self) -> None:
        """Waits until `next` has a frame; raises the error that ended them."""
        while not self._frames:
            if self._error is not None:
                raise self._error
            self._reader = asyncio.get_running_loop().create_future()
            await self._reader

    def next(self) -> dict[str, object] | None:
        """The next frame; None: all that have arrived were read."""
        if not self._frames:
            return None
        frame = self._frames.popleft()
        self._waiting -= len(frame)
        if self._room is not None and self._waiting <= MOST_WAITING // 2:
            _wake(self._room)
        return orjson.loads(frame)


def _wake(waiter: asyncio.Future[None] | None) -> None:
    if waiter is not None and not waiter.done():
        waiter.set_result(None)
