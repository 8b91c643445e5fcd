"""Records in each store up to which position it has processed the bus's facts.

A consumer's acknowledgements say what was once stored, not that the store still has it. A store that was restored to an
earlier state, or lost its last writes, is behind its own consumers. This is detected at the start and whenever the
store is available again, and the store is brought up to date from the log. What the log no longer has is recorded as
missing.
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
from memory.domain.facts import FactPlace, LogFact
from memory.domain.keys import BEGINNING, LogPosition
from memory.domain.progress import ConsumerProgress, Missed
from memory.errors import StoreUnavailableError
from memory.metrics import RECOVERED, STORE_MISSES
from runtime.bus.direct import StoredFact

MAX_READS = 4
"""How often the last facts are read while they do not reach the consumer's position; they never do if the facts there
belong to other sources."""
READ_INTERVAL_SECONDS = 0.1
"""Pause between those reads."""
FACTS_BETWEEN_CHECKS = 1_000
"""Facts after which the next look asks the bus, since a start processes everything after the position again."""
SETTLE_TIMEOUT_SECONDS = 2.0
"""Deadline of the last look: stopping does not wait for a store that hangs."""

_log = structlog.get_logger(__name__)


class PositionStore(Protocol):
    """Positions, stored in the store that they describe."""

    async def incarnation(self) -> object:
        """A value that changes with each start of the store, which may have lost its last writes; raises NexusError.

        It costs no request while the store's connections last.
        """
        ...

    async def load(self) -> dict[str, LogPosition]:
        """The positions by the source's name; raises NexusError."""
        ...

    async def move(self, name: str, expected: LogPosition | None, new: LogPosition) -> bool:
        """Replaces the position `expected` by `new`; returns False if another one is stored."""
        ...

    async def missed(self) -> list[Missed]:
        """The gaps that have been recorded."""
        ...

    async def miss(self, gap: Missed) -> None:
        """Records a gap; repeating it changes nothing."""
        ...


class Positions:
    """The positions of one store.

    Args:
        store: its name.
        empty: the store is new, so that a missing position means the beginning. In an older store it means that an
            earlier release filled it up to its consumer's position.
        every: seconds between two questions to the bus about its consumers, while few facts are processed and nothing
            suggests that the store lost data; what is processed in between is processed again at the next start.
        restored: called when the store is, or may be, in an earlier state than before.
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
        self._checked_at = float("-inf")
        self._facts_since_check = 0
        self._ends = LostEnds(store, consumers)
        self._bus_returns = self._checked_returns = 0
        self._last_moved: dict[str, LogPosition] = {}
        self._confirmed: dict[str, LogPosition] = {}
        """The positions up to which the store was last known to run without a break."""
        self._incarnation: object = None
        self._compared: object = None
        """The incarnation of the store to which `behind` belongs."""
        self.hurry: Callable[[], None] = lambda: None
        """Called when a restart of the store is noticed; makes the next look happen now."""
        self.behind: dict[str, LogPosition] = {}
        """The store's progress for sources that are being brought up to date; facts after it are incomplete."""
        self._gaps: list[Missed] = []
        self._has_new_gap = False

    async def look(self) -> None:
        """Compares all positions, and brings the sources that are behind up to date.

        Raises:
            NexusError: the store, the bus, or something else that the facts need is unavailable; look again.
        """
        await self.compare()
        for source in self._sources:
            if source.name in self.behind:
                await self._bring_up(source)

    def has_up_to(self, furthest: FactPlace | None) -> None:
        """Notes the furthest fact of the log that the store has at the start."""
        self._ends.furthest = furthest

    def taken(self, facts: Sequence[LogFact]) -> None:
        """Notes that these facts of the log have been processed."""
        self._facts_since_check += len(facts)
        self._ends.taken(facts)

    async def bus_is_back(self) -> None:
        """Makes the next look happen now, since a server that was down may have lost the end of its log."""
        self._bus_returns += 1
        self.hurry()

    async def settle(self) -> None:
        """Looks for the last time, after all work has ended, so that the next start need not process facts again."""
        self._checked_at = float("-inf")
        try:
            async with asyncio.timeout(SETTLE_TIMEOUT_SECONDS):
                await self.compare()
                await self.compare()  # whether the store was put back at that very moment
        except (NexusError, TimeoutError) as error:
            _log.info("the position stays that of the last look", store=self._store, error=str(error)[:200])

    @asynccontextmanager
    async def same_server(self) -> AsyncGenerator[None]:
        """Guarantees that reads inside the block are from the store to which `behind` belongs.

        Raises:
            StoreUnavailableError: it was restarted since, and may have lost writes. It is compared now.
        """
        incarnation = self._compared
        yield
        if incarnation is None or incarnation != await self._positions.incarnation():
            self.hurry()
            raise StoreUnavailableError(f"{self._store} was restarted: try again")

    async def compare(self) -> None:
        """Finds the sources that are behind, and moves the positions of the others; raises NexusError."""
        previous, self._incarnation = self._incarnation, None  # if the store is unavailable now, it is doubted later
        incarnation = await self._positions.incarnation()
        is_doubted = incarnation != previous
        if is_doubted:
            self._restored()
        else:
            self._confirmed |= self._last_moved
        stored = await self._positions.load()
        now, returns, furthest = time.monotonic(), self._bus_returns, self._ends.furthest
        is_due = (
            self._facts_since_check >= FACTS_BETWEEN_CHECKS
            or now - self._checked_at >= self._every
            or returns > self._checked_returns
        )
        for source in self._sources:
            position = stored.get(source.name)
            if position is None and self._empty and await self._positions.move(source.name, None, BEGINNING):
                position = BEGINNING
            last_moved = self._last_moved.get(source.name)
            is_settled = source.name in self.behind or (
                not is_due and last_moved is not None and position == last_moved
            )
            if is_settled and not is_doubted:
                continue
            progress = await self._consumers.progress(source.stream, source.durable, now)
            if progress is None:
                continue
            if not await self._ends.record_lost(source, position, furthest, progress):
                await self._compare(source, position, progress, is_doubted=is_doubted)
            elif source.stream != CHAT.name:
                await self._move(source.name, position, progress.done)
        if is_due:
            self._checked_at, self._facts_since_check, self._checked_returns = now, 0, returns
        if is_due or is_doubted or self._has_new_gap:
            self._has_new_gap = False
            self._gaps = await self._positions.missed()
        missed = {gap.source: gap.last - gap.first + 1 for gap in self._gaps}
        for name in {source.name for source in self._sources} | missed.keys():
            STORE_MISSES.labels(self._store, name).set(missed.get(name, 0))
        self._incarnation = self._compared = incarnation

    async def check(self) -> str:
        """Returns for /readyz what the store is missing, or "complete". An incomplete store still serves what it
        has."""
        gaps = [f"{self._store} misses sequences {gap.first}..{gap.last} of {gap.source}" for gap in self._gaps]
        behind = [f"{name} is being brought up from {position.seq}" for name, position in self.behind.items()]
        return "; ".join(gaps + behind) or "complete"

    async def _compare(
        self, source: ProjectionSource, stored: LogPosition | None, progress: ConsumerProgress, *, is_doubted: bool
    ) -> None:
        name, last_moved = source.name, self._last_moved.get(source.name)
        if stored is None and not self._empty and name not in self._confirmed:
            await self._move(name, None, progress.done)
            return
        position = stored or BEGINNING
        if last_moved is not None and position < last_moved:
            _log.error(
                "the store is older than it was", store=self._store, source=name, at=position.seq, was=last_moved.seq
            )
            self._restored()
        elif last_moved is not None and not is_doubted:
            if progress.done > position:
                await self._move(name, stored, progress.done)
            return
        # Facts after `done` may have been acknowledged out of order, and a store that was put back may lack them. It
        # may also lack facts that were stored before that moment and are acknowledged only now.
        target = progress.delivered if name in self._confirmed else progress.furthest
        position = self._confirmed[name] = (
            await self._put_back(name, stored, position, progress) if is_doubted else position
        )
        if target > position:
            self.behind[name] = position
            self._last_moved.pop(name, None)
        else:
            self._last_moved[name] = position

    async def _put_back(
        self, name: str, stored: LogPosition | None, position: LogPosition, progress: ConsumerProgress
    ) -> LogPosition:
        """Moves the position back to where the store was last known to be complete, and returns it: it may have been
        moved past facts that the store has lost."""
        confirmed = max(self._confirmed.get(name, position), LogPosition(progress.done.era, progress.first - 1))
        if confirmed < position and not await self._move(name, stored, confirmed):
            raise StoreUnavailableError(f"the position of {name} was changed meanwhile: it is compared again")
        return min(confirmed, position)

    async def _bring_up(self, source: ProjectionSource) -> None:
        progress = await self._consumers.progress(source.stream, source.durable, time.monotonic())
        position = (await self._positions.load()).get(source.name)
        if progress is None:
            return
        is_new = position is None or position == BEGINNING
        after = position.seq if position is not None and position.era == progress.done.era else 0
        if source.max_age is not None:
            first = await self._consumers.since(source.stream, source.subject, self._now() - source.max_age)
            after = max(after, (first or progress.done.seq + 1) - 1)
        elif after + 1 < progress.first:
            await self._record_gap(Missed(source.name, after + 1, min(progress.first - 1, progress.done.seq)))
        count = 0
        end = progress.delivered
        while after < end.seq:
            facts, has_more = await self._read(source, after, end.seq)
            if facts:
                await source.reapply(facts)
                count += len(facts)
            after = facts[-1].seq if facts and has_more else end.seq
            reached = LogPosition(progress.done.era, after)
            if not await self._move(source.name, position, reached):
                return  # another replica does this too: the next look sees how far it has come
            position = self.behind[source.name] = reached
        if not await self._move(source.name, position, end):
            return
        del self.behind[source.name]
        RECOVERED.labels(self._store, source.name).inc(count)
        if count:
            log = _log.info if is_new else _log.warning
            log("brought up from the log", store=self._store, source=source.name, facts=count)

    async def _read(self, source: ProjectionSource, after: int, end: int) -> tuple[list[StoredFact], bool]:
        """The next facts up to `end`, and whether there are more. The answer may come from a replica of the stream that
        lags behind, so a read that does not reach the end is repeated."""
        facts, has_more = await self._consumers.read(source.stream, source.subject, after, BATCH)
        for _ in range(MAX_READS - 1):
            if has_more or (facts and facts[-1].seq >= end):
                break
            await asyncio.sleep(READ_INTERVAL_SECONDS)
            facts, has_more = await self._consumers.read(source.stream, source.subject, after, BATCH)
        return [fact for fact in facts if fact.seq <= end], has_more

    async def _move(self, name: str, expected: LogPosition | None, new: LogPosition) -> bool:
        if expected == new:
            self._last_moved[name] = new
            return True
        if await self._positions.move(name, expected, new):
            self._last_moved[name] = new
            return True
        return False

    async def _record_gap(self, gap: Missed) -> None:
        _log.error("the store misses what the log holds no more", store=self._store, **asdict(gap))
        await self._positions.miss(gap)
        self._has_new_gap = True
