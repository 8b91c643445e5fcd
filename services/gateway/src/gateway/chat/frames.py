"""A socket whose frames are read in this process instead of being sent; doors use it to follow a conversation."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

import orjson

from gateway.domain.close_codes import REASONS, CloseCode
from gateway.errors import GatewayError, Unavailable

MOST_WAITING = 1024 * 1024
"""Bytes that may wait for the reader, as for a websocket; one more frame is accepted."""


class FrameQueue:
    """A ports.Socket for one reader; a reader that is too slow ends it, as on a websocket."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
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
        if self._waiting > MOST_WAITING // 2:
            self._room.clear()
        self._arrived.set()

    def terminate(self, code: CloseCode) -> None:
        """Ends it: the reader is told to come again."""
        self.fail(Unavailable(REASONS[code]))

    def fail(self, error: GatewayError) -> None:
        """Ends it with this error, after the queued frames."""
        self._error = self._error or error
        self._room.set()
        self._arrived.set()

    async def drained(self) -> None:
        """Waits until the reader has caught up."""
        await self._room.wait()

    async def read(self) -> AsyncGenerator[dict[str, object]]:
        """The frames in order; raises the error that ended them."""
        while True:
            while self._frames:
                frame = self._frames.popleft()
                self._waiting -= len(frame)
                if self._waiting <= MOST_WAITING // 2:
                    self._room.set()
                yield orjson.loads(frame)
            if self._error is not None:
                raise self._error
            self._arrived.clear()
            await self._arrived.wait()
