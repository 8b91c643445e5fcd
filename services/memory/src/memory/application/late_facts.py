"""Facts that arrive after their subject was deleted: they are not stored, and are removed from the stream.

This is checked before a fact is stored, and again afterwards if storing was slow: a process delayed in between could
store what was deleted meanwhile.

A conversation that was deleted may begin again: a fact can arrive before the projection has stored the message that it
follows. So a fact counts as late only once everything in the log is stored.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

from contracts.streams import FACTS
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.projection_floor import ProjectionFloor
from memory.domain.erasure import Erasure
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from runtime.clock import Clock
from runtime.workers.outcomes import Ack, Outcome, Retry

SLOW = 1.0
"""Seconds after which storing counts as slow. A deletion looks once more for what was being stored when it began."""
STORED, AGAIN = 1.0, 1.0
"""Seconds to wait until everything in the log is stored, and until a fact that depends on it is retried."""
Drop = Callable[[str, Sequence[str]], None]
FactT = TypeVar("FactT")


@dataclass(frozen=True, slots=True)
class FactSubject:
    """The user and conversation of a fact in FACTS, its time, and its position."""

    company: str
    user: str | None
    conversation: str | None
    at: datetime
    seq: int

    @property
    def names(self) -> tuple[str, ...]:
        """The names by which tombstones refer to them."""
        user = (f"{self.company}:{self.user}",) if self.user else ()
        return (*user, f"{self.company}/{self.conversation}") if self.conversation else user


class LateFacts:
    """Keeps out facts about deleted subjects. `drop` removes a conversation from this process's memory."""

    def __init__(
        self,
        *,
        tombstones: MongoTombstones,
        store: MongoErasure,
        bus: StreamErasure,
        log: StreamLog,
        floor: ProjectionFloor,
        drop: Drop,
        clock: Clock,
    ) -> None:
        self._tombstones = tombstones
        self._store = store
        self._bus = bus
        self._log = log
        self._floor = floor
        self._drop = drop
        self._clock = clock

    async def project(
        self, facts: Sequence[LogFact], project: Callable[[Sequence[LogFact]], Awaitable[None]]
    ) -> Sequence[LogFact]:
        """Projects those facts whose conversations were not deleted, and returns them; raises StoreUnavailableError."""
        begun = self._clock.monotonic()
        gone = await self._deleted(facts)
        facts = [fact for fact in facts if fact.position not in gone] if gone else facts
        await project(facts)
        if self._clock.monotonic() - begun > SLOW:
            gone = await self._deleted(facts)
            for fact in (one for one in facts if one.position in gone):
                self._drop(fact.company, [fact.conversation])
                await self._store.erase_late(_alone(fact.company, fact.conversation, fact.at, fact.position))
        return facts

    async def take(self, about: FactSubject, take: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Stores a fact, unless it is late: then it is removed from the stream; see take_all."""

        async def alone(_: Sequence[None]) -> Sequence[Outcome]:
            return [await take()]

        return (await self.take_all([(about, None)], alone))[0]

    async def take_all(
        self,
        facts: Sequence[tuple[FactSubject, FactT]],
        take: Callable[[Sequence[FactT]], Awaitable[Sequence[Outcome]]],
    ) -> Sequence[Outcome]:
        """Stores the facts that are not late, and removes the others from the stream. Undecided ones are retried later
        without holding up others.

        Raises:
            StoreUnavailableError, BusUnavailableError, and what `take` raises.
        """
        begun = self._clock.monotonic()
        outcomes: list[Outcome] = [Ack() for _ in facts]
        late, unsure = await self._late({number: about for number, (about, _) in enumerate(facts)})
        for number in unsure:
            outcomes[number] = Retry(AGAIN)
        kept = [number for number in range(len(facts)) if number not in late and number not in unsure]
        if kept:
            taken = await take([facts[number][1] for number in kept])
            for number, outcome in zip(kept, taken, strict=True):
                outcomes[number] = outcome
        if kept and self._clock.monotonic() - begun > SLOW:
            for number, about in (await self._late({number: facts[number][0] for number in kept}))[0].items():
                if about.conversation and not await self._store.existing(about.company, [about.conversation]):
                    await self._store.erase(_alone(about.company, about.conversation, about.at, LogPosition(0, 0)))
                late[number], outcomes[number] = about, Ack()
        for about in late.values():
            await self._bus.remove(FACTS.name, about.seq)
        return outcomes

    async def _deleted(self, facts: Sequence[LogFact]) -> frozenset[LogPosition]:
        stones = await self._tombstones.conversations({(fact.company, fact.conversation) for fact in facts})
        return frozenset(
            fact.position
            for fact in facts
            if (stone := stones.get((fact.company, fact.conversation))) and fact.position <= stone.up_to
        )

    async def _late(self, facts: Mapping[int, FactSubject]) -> tuple[dict[int, FactSubject], set[int]]:
        """The late facts, and those for which this is undecided."""
        names = {name for about in facts.values() for name in about.names}
        stones = {stone.name: stone for stone in await self._tombstones.of(names)}
        late: dict[int, FactSubject] = {}
        gone: dict[int, tuple[str, str]] = {}
        for number, about in facts.items():
            found = [stones[name] for name in about.names if name in stones]
            if any(about.at <= stone.at for stone in found):
                late[number] = about
            elif about.conversation and any(stone.conversation for stone in found):
                gone[number] = about.company, about.conversation
        # Of a conversation that has not begun again, any fact is late.
        gone = await self._not_there(gone)
        if not gone:
            return late, set()
        stored = await self._floor.reach(await self._log.end(), STORED)
        gone = await self._not_there(gone)
        if not stored:
            return late, set(gone)
        return late | {number: facts[number] for number in gone}, set()

    async def _not_there(self, facts: Mapping[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
        missing = {one for one in set(facts.values()) if not await self._store.existing(one[0], [one[1]])}
        return {number: one for number, one in facts.items() if one in missing}


def _alone(company: str, conversation: str, at: datetime, up_to: LogPosition) -> Erasure:
    return Erasure(company, "", (conversation,), at, up_to)
