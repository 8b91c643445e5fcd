"""Processes the remaining messages of consumers that only earlier releases had, then deletes these consumers.

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
    """The consumers of earlier releases, by their sources."""

    def __init__(self, consumers: Consumers, sources: Sequence[ProjectionSource]) -> None:
        self._consumers = consumers
        self._sources = sources

    async def sweep(self) -> None:
        """Deletes consumers without a running replica; raises NexusError if the bus or a store is unavailable."""
        for source in self._sources:
            progress = await self._consumers.progress(source.stream, source.durable, time.monotonic())
            if progress is not None and not progress.served:
                await self._drain_and_delete(source, progress.done.seq)

    async def _drain_and_delete(self, source: ProjectionSource, after: int) -> None:
        count, has_more = 0, True
        while has_more:
            facts, has_more = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts:
                await source.reapply(facts)
                after, count = facts[-1].seq, count + len(facts)
        await self._consumers.delete(source.stream, source.durable)
        _log.info("a consumer of an earlier release is ended", source=source.name, facts=count)
