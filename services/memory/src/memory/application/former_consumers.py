"""Consumers that earlier releases had and this one has not: what they still hold is taken in, then they are deleted.

A replica of an earlier release always has a request for messages waiting there: as long as one runs, the consumer is
its own. What was handed to one that has died is not acknowledged, and is taken in here. Should one start again, it
makes the consumer anew and takes in all that the stream holds: nothing is lost, for everything may come again.
"""

import time
from collections.abc import Sequence

import structlog

from memory.application.positions import BATCH, Consumers, ProjectionSource

_log = structlog.get_logger(__name__)


class FormerConsumers:
    """The sources of earlier releases."""

    def __init__(self, consumers: Consumers, sources: Sequence[ProjectionSource]) -> None:
        self._consumers = consumers
        self._sources = sources

    async def sweep(self) -> None:
        """Ends those that nobody serves any more; raises NexusError: the bus or a store is away."""
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
