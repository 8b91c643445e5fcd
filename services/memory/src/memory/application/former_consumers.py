"""Consumers of earlier releases that this one no longer has: their remaining messages are processed, then they are
deleted.

While a replica of an earlier release runs, it always has a pull request waiting there, and the consumer is left to it.
What was delivered to a dead replica is not acknowledged, and is processed here. If an old replica starts again, it
recreates the consumer and processes the whole stream: repeats are harmless.
"""

import time
from collections.abc import Sequence

import structlog

from memory.application.projection_sources import BATCH, Consumers, ProjectionSource

_log = structlog.get_logger(__name__)


class FormerConsumers:
    """The sources of earlier releases."""

    def __init__(self, consumers: Consumers, sources: Sequence[ProjectionSource]) -> None:
        self._consumers = consumers
        self._sources = sources

    async def sweep(self) -> None:
        """Deletes consumers that nobody serves any more; raises NexusError: the bus or a store is away."""
        for source in self._sources:
            progress = await self._consumers.progress(source.stream, source.durable, time.monotonic())
            if progress is not None and not progress.served:
                await self._end(source, progress.done.seq)

    async def _end(self, source: ProjectionSource, after: int) -> None:
        taken, more = 0, True
        while more:
            facts, more = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts:
                await source.again(facts)
                after, taken = facts[-1].seq, taken + len(facts)
        await self._consumers.delete(source.stream, source.durable)
        _log.info("a consumer of an earlier release is ended", source=source.name, facts=taken)
