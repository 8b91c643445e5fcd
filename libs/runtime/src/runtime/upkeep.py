"""Streams and durable consumers that go missing while a service runs: a server that came back with an empty disk, or a
consumer that somebody deleted. FastStream's pull loop would wait for ever, in silence."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog
from nats.aio.client import Client

from runtime.consumers import ConsumerSpec, ensure_consumer
from runtime.errors import RuntimeFault
from runtime.marks import Marks

log = structlog.get_logger(__name__)

PERIOD = 60.0
SOON = 1.0


class Upkeep:
    """Makes anew what is missing: streams after each reconnect, consumers then and every minute. Looks then, too, since
    when marks are demanded."""

    def __init__(
        self,
        client: Client,
        streams: Callable[[], Awaitable[None]] | None,
        consumers: Sequence[ConsumerSpec],
    ) -> None:
        self._client = client
        self._streams = streams
        self._consumers = consumers
        self._woken = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begins to look after them."""
        self._task = asyncio.create_task(self._keep())

    async def reconnected(self) -> None:
        """A hook for the connection: look now."""
        self._woken.set()

    async def stop(self) -> None:
        """Looks no more."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task])

    async def _keep(self) -> None:
        while True:
            try:
                async with asyncio.timeout(PERIOD):
                    await self._woken.wait()
            except TimeoutError:
                pass
            if not self._client.is_connected:
                continue
            try:
                if self._woken.is_set() and self._streams is not None:
                    await self._streams()
                await Marks.of(self._client).learn()
                for spec in self._consumers:
                    await ensure_consumer(self._client, spec, deadline=5.0)
                self._woken.clear()
            except RuntimeFault as error:
                log.warning("upkeep.failed", error=str(error))
                await asyncio.sleep(SOON)
