"""Detects streams whose server has lost their end, because a file was damaged or cut.

The server assigns the lost sequences again. New facts of the log with such a sequence would be mistaken for facts that
the store already has, so the log is continued after all of them.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import orjson
import structlog

from contracts.channels import CHAT_ALL
from contracts.streams import CHAT
from memory.application.projection_sources import BATCH, Consumers, ProjectionSource
from memory.domain.facts import FactPlace, LogFact
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress
from runtime.bus.direct import StoredFact

_log = structlog.get_logger(__name__)


class LostEnds:
    """Finds out whether a stream is shorter than what a store has processed from it, or contains other facts."""

    def __init__(self, store: str, consumers: Consumers) -> None:
        self._store = store
        self._consumers = consumers
        self.furthest: FactPlace | None = None
        """The fact with the highest position among all facts of the log that the store has."""

    def taken(self, facts: Sequence[LogFact]) -> None:
        """Notes that these facts of the log have been processed."""
        previous = () if self.furthest is None else (self.furthest,)
        places = (FactPlace(fact.position, fact.event_id) for fact in facts)
        self.furthest = max((*previous, *places), default=None)

    async def record_lost(
        self,
        source: ProjectionSource,
        position: LogPosition | None,
        furthest: FactPlace | None,
        progress: ConsumerProgress,
    ) -> bool:
        """Whether the stream of this source has lost its end; that is recorded in the stream.

        The log is continued by the source that has `has_all`. For another stream, the caller must move its position
        back to the stream's end. `position` and `furthest` were read before `progress`. Raises NexusError.
        """
        if source.stream != CHAT.name:
            return await self._note_other_stream(source, position, progress)
        if (last_used := await self._last_reused_seq(position, furthest, progress)) is None:
            return False
        if source.has_all is not None:
            _log.error("the log has lost its end; the store has it", stream=source.stream, last=last_used)
            process = partial(self._process_continuation, source, source.has_all, progress.first)
            await self._consumers.leave_out(source.stream, last_used, process)
            self.furthest = None
        return True

    async def _note_other_stream(
        self, source: ProjectionSource, position: LogPosition | None, progress: ConsumerProgress
    ) -> bool:
        """Records the loss in a stream other than the log; nobody reads those by sequence, so they simply go on."""
        if position is None or position.era != progress.done.era or position.seq <= progress.last:
            return False
        _log.error("the stream has lost its end", stream=source.stream, source=source.name, last=position.seq)
        await self._consumers.note_lost_end(source.stream, position.seq)
        return True

    async def _last_reused_seq(
        self, position: LogPosition | None, furthest: FactPlace | None, progress: ConsumerProgress
    ) -> int | None:
        """The last sequence that may be assigned twice; None if nothing is lost."""
        era = progress.done.era
        processed = [
            place.seq for place in (position, furthest and furthest.position) if place is not None and place.era == era
        ]
        if (highest := max(processed, default=0)) > progress.last:
            return highest
        if furthest is not None and furthest.position.era == era:
            seq = furthest.position.seq
            facts, _ = await self._consumers.read(CHAT.name, CHAT_ALL, seq - 1, 1)
            if facts and facts[0].seq == seq and _event_id(facts[0]) != furthest.event_id:
                return progress.last
        return None

    async def _process_continuation(
        self,
        source: ProjectionSource,
        has_all: Callable[[Sequence[StoredFact]], Awaitable[bool]],
        first: int,
        last: int,
    ) -> None:
        """Processes the facts that were added to the log after it had lost its end, up to `last`: later ones have
        sequences that the store does not know."""
        after = last
        while after >= first:
            after = max(after - BATCH, first - 1)
            facts, _ = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts and await has_all(facts):
                break
        count = 0
        while after < last:
            facts, has_more = await self._consumers.read(source.stream, source.subject, after, BATCH)
            if facts:
                await source.reapply(facts)
                count += len(facts)
            after = facts[-1].seq if facts and has_more else last
        _log.warning("the end of the log is taken in", store=self._store, source=source.name, facts=count)


def _event_id(fact: StoredFact) -> str | None:
    """The event's id; None if the message is no event."""
    try:
        return orjson.loads(fact.event)["id"]
    except (ValueError, LookupError, TypeError):
        return None
