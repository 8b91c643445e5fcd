"""Streams whose server has lost their end, because a file was damaged or cut.

The server gives the lost sequences out again. In the log, what comes there would be taken for what the store has
already, so the log is continued behind all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog

from contracts.channels import CHAT_ALL
from contracts.streams import CHAT
from memory.application.projection_sources import BATCH, Consumers, ProjectionSource
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress
from runtime.bus.direct import StoredFact

_log = structlog.get_logger(__name__)


class LostEnds:
    """Finds that the log is shorter, or another one, than what a store has taken from it."""

    def __init__(self, store: str, consumers: Consumers) -> None:
        self._store = store
        self._consumers = consumers
        self.furthest: LogFact | None = None
        """Of all facts of the log that were processed here, that with the highest sequence."""

    def taken(self, facts: Sequence[LogFact]) -> None:
        """These facts of the log have been processed."""
        known = () if self.furthest is None else (self.furthest,)
        self.furthest = max((*known, *facts), key=lambda fact: fact.position, default=None)

    async def found(
        self, source: ProjectionSource, here: LogPosition | None, furthest: LogFact | None, progress: ConsumerProgress
    ) -> bool:
        """Whether the stream of this source has lost its end, which is recorded there. The log is continued, by the
        source that `holds` all of it; of another stream the position is to be moved back to what is there.
        `here`, `furthest`: from before `progress` was asked for. Raises NexusError."""
        if source.stream != CHAT.name:
            return await self._noted(source, here, progress)
        if (end := await self._end(here, furthest, progress)) is None:
            return False
        if source.holds is not None:
            _log.error("the log has lost its end; the store has it", stream=source.stream, last=end)
            keep = partial(self._keep, source, source.holds, progress.first)
            await self._consumers.leave_out(source.stream, end, keep)
            self.furthest = None
        return True

    async def _noted(self, source: ProjectionSource, here: LogPosition | None, progress: ConsumerProgress) -> bool:
        """Of other streams nobody reads a sequence again: what was lost is recorded, and they go on."""
        if here is None or here.era != progress.done.era or here.seq <= progress.last:
            return False
        _log.error("the stream has lost its end", stream=source.stream, source=source.name, last=here.seq)
        await self._consumers.note_lost_end(source.stream, here.seq)
        return True

    async def _end(self, here: LogPosition | None, furthest: LogFact | None, progress: ConsumerProgress) -> int | None:
        """The last sequence that may have been used twice; None: nothing is lost."""
        era = progress.done.era
        had = [at.seq for at in (here, furthest and furthest.position) if at is not None and at.era == era]
        if (last := max(had, default=0)) > progress.last:
            return last
        if furthest is not None and furthest.position.era == era:
            facts, _ = await self._consumers.read(CHAT.name, CHAT_ALL, furthest.seq - 1, 1)
            if facts and facts[0].seq == furthest.seq and facts[0].event != furthest.raw:
                return progress.last
        return None

    async def _keep(
        self, source: ProjectionSource, holds: Callable[[Sequence[StoredFact]], Awaitable[bool]], first: int, last: int
    ) -> None:
        """Processes what was added to a log after it had lost its end: its sequences continue after everything that
        the store has."""
        after = last
        while after >= first:
            after = max(after - BATCH, first - 1)
            facts, _ = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts and await holds(facts):
                break
        taken = 0
        while after < last:
            facts, more = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts:
                await source.again(facts)
                taken += len(facts)
            after = facts[-1].seq if facts and more else last
        _log.warning("the end of the log is taken in", store=self._store, source=source.name, facts=taken)
