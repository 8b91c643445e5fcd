"""Records in each store how far it has come with the bus's facts.

A consumer's acknowledgements say what was once stored, not that the store still has it. A store that was restored to an
earlier state, or lost its last writes, is behind its own consumers. This is noticed at the start and whenever the store
comes back, and the store is brought up to date from the log. What the log no longer has is recorded as missing.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import datetime
from typing import Protocol

import structlog

from contracts.errors import NexusError
from contracts.streams import CHAT
from memory.application.lost_ends import LostEnds
from memory.application.projection_sources import BATCH, Consumers, ProjectionSource
from memory.domain.facts import LogFact
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.progress import ConsumerProgress, Missed
from memory.errors import StoreUnavailableError
from memory.metrics import RECOVERED, STORE_MISSES
from runtime.bus.direct import StoredFact

READS = 4
"""How often the last facts are read while they do not reach the consumer's position: none of them may belong to this
source."""
READ_AGAIN = 0.1
"""Seconds between those reads."""
MANY = 1_000
"""Facts after which the bus is asked at the next look, since everything after the position is processed again at a
start."""
SETTLES_WITHIN = 2.0
"""Seconds; stopping does not wait for a store that hangs."""

_log = structlog.get_logger(__name__)


class PositionStore(Protocol):
    """Positions, stored in the store that they describe."""

    async def incarnation(self) -> object:
        """A value that changes with each start of the store, which may have lost its last writes; raises NexusError.
        Free while the store's connections last."""
        ...

    async def load(self) -> dict[str, LogPosition]:
        """The positions by the source's name; raises NexusError."""
        ...

    async def move(self, name: str, before: LogPosition | None, to: LogPosition) -> bool:
        """Replaces `before` by `to`; False: another position is there."""
        ...

    async def missed(self) -> list[Missed]:
        """The gaps that have been recorded."""
        ...

    async def miss(self, gap: Missed) -> None:
        """Records what is missing; repeating it changes nothing."""
        ...


class Positions:
    """The positions of one store.

    Args:
        store: its name.
        empty: it is new, so that a missing position means the beginning. In an older store it means that an earlier
            release filled it, up to its consumer's position.
        every: seconds between two questions to the bus about its consumers, while little was `taken` and nothing
            suggests that the store lost data; what was processed in between is processed again at the next start.
        restored: called when the store turns out to be older than it was, or may be.
    """

    def __init__(
        self,
        store: str,
        positions: PositionStore,
        consumers: Consumers,
        sources: Sequence[ProjectionSource],
        *,
        now: Callable[[], datetime],
        empty: bool,
        every: float,
        restored: Callable[[], None] = lambda: None,
    ) -> None:
        self._store = store
        self._positions = positions
        self._consumers = consumers
        self._sources = sources
        self._now = now
        self._empty = empty
        self._restored = restored
        self._every = every
        self._asked = float("-inf")
        self._taken = 0
        self._ends = LostEnds(store, consumers)
        self._bus_returns = self._compared_returns = 0
        self._known: dict[str, LogPosition] = {}
        self._sure: dict[str, LogPosition] = {}
        """The position when the store was last known to be alive without a break."""
        self._incarnation: object = None
        self._compared: object = None
        """The life of the store to which `behind` belongs."""
        self.hurry: Callable[[], None] = lambda: None
        """Called when somebody notices that the store was restarted: look now."""
        self.behind: dict[str, LogPosition] = {}
        """The store's progress for sources that are being brought up to date; later facts are incomplete."""
        self._gaps: list[Missed] = []
        self._told_missing = False

    async def look(self) -> None:
        """Compares all positions, and brings up to date what is behind.

        Raises:
            NexusError: the store, the bus, or something else that the facts need is away; look again.
        """
        await self.compare()
        for source in self._sources:
            if source.name in self.behind:
                await self._bring_up(source)

    def taken(self, facts: Sequence[LogFact]) -> None:
        """These facts of the log have been processed."""
        self._taken += len(facts)
        self._ends.taken(facts)

    async def bus_is_back(self) -> None:
        """A server that was away may have lost the end of its log: look now."""
        self._bus_returns += 1
        self.hurry()

    async def settle(self) -> None:
        """The last look, when all work has ended, so that the next start need not process facts again."""
        self._asked = float("-inf")
        try:
            async with asyncio.timeout(SETTLES_WITHIN):
                await self.compare()
                await self.compare()  # whether it was put back in that very moment
        except (NexusError, TimeoutError) as error:
            _log.info("the position stays that of the last look", store=self._store, error=str(error)[:200])

    @asynccontextmanager
    async def same_server(self) -> AsyncGenerator[None]:
        """Guarantees that reads inside the block are from the store to which `behind` belongs.

        Raises:
            StoreUnavailableError: it was restarted since, and may be older than it was. It is compared now.
        """
        incarnation = self._compared
        yield
        if incarnation is None or incarnation != await self._positions.incarnation():
            self.hurry()
            raise StoreUnavailableError(f"{self._store} was restarted: try again")

    async def compare(self) -> None:
        """Finds what is behind, and moves the other positions; raises NexusError."""
        before, self._incarnation = self._incarnation, None  # a store that is away now is doubted when it is back
        incarnation = await self._positions.incarnation()
        doubted = incarnation != before
        if doubted:
            self._restored()
        else:
            self._sure |= self._known
        kept = await self._positions.load()
        asked, returns, furthest = time.monotonic(), self._bus_returns, self._ends.furthest
        due = self._taken >= MANY or asked - self._asked >= self._every or returns > self._compared_returns
        for source in self._sources:
            here = kept.get(source.name)
            if here is None and self._empty and await self._positions.move(source.name, None, BEGINNING):
                here = BEGINNING
            known = self._known.get(source.name)
            idle = source.name in self.behind or (not due and known is not None and here == known)
            if idle and not doubted:
                continue
            progress = await self._consumers.progress(source.stream, source.durable, asked)
            if progress is None:
                continue
            if not await self._ends.found(source, here, furthest, progress):
                await self._compare(source, here, progress, doubted=doubted)
            elif source.stream != CHAT.name:
                await self._move(source.name, here, progress.done)
        if due:
            self._asked, self._taken, self._compared_returns = asked, 0, returns
        if due or doubted or self._told_missing:
            self._told_missing = False
            self._gaps = await self._positions.missed()
        for gap in self._gaps:
            STORE_MISSES.labels(self._store, gap.source).set(gap.last - gap.first + 1)
        self._incarnation = self._compared = incarnation

    async def check(self) -> str:
        """Says for /readyz what the store misses, or that it is complete; a store that misses something still serves
        what it has."""
        gaps = [f"{self._store} misses sequences {gap.first}..{gap.last} of {gap.source}" for gap in self._gaps]
        late = [f"{name} is being brought up from {at.seq}" for name, at in self.behind.items()]
        return "; ".join(gaps + late) or "complete"

    async def _compare(
        self, source: ProjectionSource, here: LogPosition | None, progress: ConsumerProgress, *, doubted: bool
    ) -> None:
        name, known = source.name, self._known.get(source.name)
        if here is None and not self._empty and name not in self._sure:
            await self._move(name, None, progress.done)
            return
        at = here or BEGINNING
        if known is not None and at < known:
            _log.error("the store is older than it was", store=self._store, source=name, at=at.seq, was=known.seq)
            self._restored()
        elif known is not None and not doubted:
            if progress.done > at:
                await self._move(name, here, progress.done)
            return
        # What is behind `done` may have been acknowledged out of order: a store that was put back may lack it. What was
        # stored before that and is acknowledged only now it lacks as well.
        end = progress.delivered if name in self._sure else progress.furthest
        at = self._sure[name] = await self._put_back(name, here, at, progress) if doubted else at
        if end > at:
            self.behind[name] = at
            self._known.pop(name, None)
        else:
            self._known[name] = at

    async def _put_back(
        self, name: str, here: LogPosition | None, at: LogPosition, progress: ConsumerProgress
    ) -> LogPosition:
        """Moves the position back to where the store was last known to be whole, since it may have been moved past
        what a restore at that moment has lost."""
        sure = max(self._sure.get(name, at), LogPosition(progress.done.era, progress.first - 1))
        if sure < at and not await self._move(name, here, sure):
            raise StoreUnavailableError(f"the position of {name} was changed meanwhile: it is compared again")
        return min(sure, at)

    async def _bring_up(self, source: ProjectionSource) -> None:
        progress = await self._consumers.progress(source.stream, source.durable, time.monotonic())
        here = (await self._positions.load()).get(source.name)
        if progress is None:
            return
        new = here is None or here == BEGINNING
        after = here.seq if here is not None and here.era == progress.done.era else 0
        if source.kept is not None:
            first = await self._consumers.since(source.stream, source.subject, self._now() - source.kept)
            after = max(after, (first or progress.done.seq + 1) - 1)
        elif after + 1 < progress.first:
            await self._tell_missing(Missed(source.name, after + 1, min(progress.first - 1, progress.done.seq)))
        taken = 0
        end = progress.delivered
        while after < end.seq:
            facts, more = await self._read(source, after, end.seq)
            if facts:
                await source.again(facts)
                taken += len(facts)
            after = facts[-1].seq if facts and more else end.seq
            to = LogPosition(progress.done.era, after)
            if not await self._move(source.name, here, to):
                return  # another replica is at it as well: the next look sees how far it has come
            here = self.behind[source.name] = to
        if not await self._move(source.name, here, end):
            return
        del self.behind[source.name]
        RECOVERED.labels(self._store, source.name).inc(taken)
        if taken:
            told = _log.info if new else _log.warning
            told("brought up from the log", store=self._store, source=source.name, facts=taken)

    async def _read(self, source: ProjectionSource, after: int, end: int) -> tuple[list[StoredFact], bool]:
        """The next facts up to `end`, and whether there are more. Any replica of the stream answers, perhaps one
        that is behind, so a read that does not reach the end is repeated."""
        facts, more = await self._consumers.read(source.stream, source.subject, after, BATCH)
        for _ in range(READS - 1):
            if more or (facts and facts[-1].seq >= end):
                break
            await asyncio.sleep(READ_AGAIN)
            facts, more = await self._consumers.read(source.stream, source.subject, after, BATCH)
        return [fact for fact in facts if fact.seq <= end], more

    async def _move(self, name: str, before: LogPosition | None, to: LogPosition) -> bool:
        if before == to:
            self._known[name] = to
            return True
        if await self._positions.move(name, before, to):
            self._known[name] = to
            return True
        return False

    async def _tell_missing(self, gap: Missed) -> None:
        _log.error("the store misses what the log holds no more", store=self._store, **asdict(gap))
        await self._positions.miss(gap)
        self._told_missing = True
