"""Makes missing streams anew while a service runs, and keeps up with the marks that streams demand."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.background import BackgroundLoop
from runtime.connection import subscribe
from runtime.errors import RuntimeFault
from runtime.marks import MARKED, Marks

log = structlog.get_logger(__name__)

PERIOD = 300.0
"""Seconds between two looks: the server tells of each change of a stream, and this is the net below that."""
UPDATED = "$JS.EVENT.ADVISORY.STREAM.UPDATED"
SOON = 1.0
LONGEST_LOOK = 300.0


class Upkeep:
    """Makes streams that are missing after each reconnect: the server may have come back with an empty disk. Learns
    since when marks are demanded then, every PERIOD, and as soon as a stream that can demand them has changed."""

    def __init__(self, client: Client, streams: Callable[[], Awaitable[None]] | None) -> None:
        self._client = client
        self._streams = streams
        self._woken = asyncio.Event()
        self._due = asyncio.Event()
        self._loop = BackgroundLoop("upkeep", self._look, wait=self._until_due, longest=LONGEST_LOOK)
        self.start = self._loop.start
        self.stop = self._loop.stop
        self.still = self._loop.still

    async def reconnected(self) -> None:
        """A hook for the connection: look now."""
        self._woken.set()
        self._due.set()

    async def listen(self) -> None:
        """Hears from now on when the streams change in which marks may be demanded."""
        for name in MARKED if Marks.of(self._client).taking_part else ():
            await subscribe(self._client, f"{UPDATED}.{name}", self._changed)

    async def _changed(self, message: Msg) -> None:
        del message
        self._due.set()

    async def _until_due(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(PERIOD):
                await self._due.wait()

    async def _look(self) -> None:
        if not self._client.is_connected:
            await asyncio.sleep(SOON)
            return
        self._due.clear()
        try:
            if self._woken.is_set() and self._streams is not None:
                await self._streams()
            await Marks.of(self._client).learn()
            self._woken.clear()
        except (RuntimeFault, NatsError) as error:
            # The connection may have gone in the middle: whatever it is, the next look is soon.
            self._woken.set()
            self._due.set()
            log.warning("upkeep.failed", error=str(error) or type(error).__name__)
            await asyncio.sleep(SOON)
