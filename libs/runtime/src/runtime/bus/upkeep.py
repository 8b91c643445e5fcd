"""Recreates streams that disappear while a service runs, as when a server comes back with an empty disk. Durable
consumers are recreated by the workers that pull from them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.background import BackgroundLoop
from runtime.bus.connection import subscribe
from runtime.bus.marks import MARKED, Marks
from runtime.errors import RuntimeLibraryError

log = structlog.get_logger(__name__)

CHECK_INTERVAL = 300.0
"""Seconds between checks, as a safety net: changes of streams are also announced."""
UPDATED = "$JS.EVENT.ADVISORY.STREAM.UPDATED"
RETRY_PAUSE = 1.0
"""Seconds before the next check if one failed."""
CHECK_TIMEOUT = 300.0
"""Seconds for one check."""


class Upkeep:
    """Recreates missing streams after each reconnect. After that, and whenever a stream with marks has changed, it
    reads from which sequence on marks are demanded."""

    def __init__(self, client: Client, streams: Callable[[], Awaitable[None]] | None) -> None:
        self._client = client
        self._streams = streams
        self._has_reconnected = asyncio.Event()
        self._due = asyncio.Event()
        self._loop = BackgroundLoop("upkeep", self._check, wait=self._until_due, step_timeout=CHECK_TIMEOUT)
        self.start = self._loop.start
        self.stop = self._loop.stop
        self.stuck_because = self._loop.stuck_because

    async def reconnected(self) -> None:
        """Reconnect hook: causes a check now."""
        self._has_reconnected.set()
        self._due.set()

    async def listen(self) -> None:
        """Subscribes to changes of the streams in which marks may be demanded."""
        for name in MARKED if Marks.of(self._client).is_taking_part else ():
            await subscribe(self._client, f"{UPDATED}.{name}", self._changed)

    async def _changed(self, message: Msg) -> None:
        del message
        self._due.set()

    async def _until_due(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(CHECK_INTERVAL):
                await self._due.wait()

    async def _check(self) -> None:
        if not self._client.is_connected:
            await asyncio.sleep(RETRY_PAUSE)
            return
        self._due.clear()
        try:
            if self._has_reconnected.is_set() and self._streams is not None:
                await self._streams()
            await Marks.of(self._client).learn()
            self._has_reconnected.clear()
        except (RuntimeLibraryError, NatsError) as error:
            # Perhaps the connection broke meanwhile. Whatever the reason, the next check is soon.
            self._has_reconnected.set()
            self._due.set()
            log.warning("upkeep.failed", error=str(error) or type(error).__name__)
            await asyncio.sleep(RETRY_PAUSE)
