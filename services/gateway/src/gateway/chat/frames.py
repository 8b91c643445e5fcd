"""A socket whose frames are read here instead of being sent: how a door hears what a websocket hears."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator

import orjson

from gateway.domain.close_codes import REASONS, CloseCode
from gateway.errors import GatewayError, Unavailable

MOST_WAITING = 1024 * 1024
"""Bytes that may wait for a reader, as for a websocket; one frame more is let in."""


class FrameQueue:
    """ports.Socket for one reader; what it cannot keep up with ends it, as it ends a websocket."""

    def __init__(self) -> None:
        self._frames: deque[bytes] = deque()
        self._waiting = 0
        self._arrived = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._error: GatewayError | None = None

    def push(self, frame: bytes) -> None:
        """Takes a frame; nothing more after the end."""
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
        """Ends it: who reads is told to come again."""
        self.fail(Unavailable(REASONS[code]))

    def fail(self, error: GatewayError) -> None:
        """Ends it with this error, behind the frames that are there."""
        self._error = self._error or error
        self._room.set()
        self._arrived.set()

    async def drained(self) -> None:
        """Waits until the reader has caught up."""
        await self._room.wait()

    async def read(self) -> AsyncGenerator[dict[str, object]]:
        """The frames in order; raises what ended them."""
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
