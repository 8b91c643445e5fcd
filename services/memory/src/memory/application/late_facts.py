"""Facts that come after what they are about was deleted: they are not taken in, and leave the stream again.

They are looked for before a fact is taken in; and once more after it, where taking it in was slow: a process that was
held up in between would write what has been deleted meanwhile.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from contracts.streams import FACTS
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.domain.facts import LogFact
from memory.domain.keys import LogPosition
from memory.erasure_ports import Erasure
from runtime.clock import Clock
from runtime.outcomes import Ack, Outcome

SLOW = 1.0
"""Seconds. A deletion looks once more for what was under way when it began, and that soon ends."""
Drop = Callable[[str, Sequence[str]], None]


@dataclass(frozen=True, slots=True)
class FactSubject:
    """Whom and what a fact of FACTS is about, when it happened, and where it stands."""

    company: str
    user: str | None
    conversation: str | None
    at: datetime
    seq: int


class LateFacts:
    """Keeps out what is about the deleted. `drop` takes a conversation out of what this process holds of it."""

    def __init__(
        self, tombstones: MongoTombstones, store: MongoErasure, bus: StreamErasure, drop: Drop, clock: Clock
    ) -> None:
        self._tombstones = tombstones
        self._store = store
        self._bus = bus
        self._drop = drop
        self._clock = clock

    async def project(
        self, facts: Sequence[LogFact], project: Callable[[Sequence[LogFact]], Awaitable[None]]
    ) -> Sequence[LogFact]:
        """Has those facts of conversations projected that were not deleted, and returns them; raises
        StoreUnavailable."""
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

    async def take(self, about: FactSubject | None, take: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Has a fact taken in, unless it is late: then it leaves the stream.

        Raises:
            StoreUnavailable, BusUnavailable, and what `take` raises.
        """
        if about is None:
            return await take()
        begun = self._clock.monotonic()
        if not await self._late(about):
            outcome = await take()
            if self._clock.monotonic() - begun <= SLOW or not await self._late(about):
                return outcome
            if about.conversation and not await self._store.living(about.company, [about.conversation]):
                await self._store.erase(_alone(about.company, about.conversation, about.at, LogPosition(0, 0)))
        await self._bus.remove(FACTS.name, about.seq)
        return Ack()

    async def _deleted(self, facts: Sequence[LogFact]) -> frozenset[LogPosition]:
        stones = await self._tombstones.conversations({(fact.company, fact.conversation) for fact in facts})
        return frozenset(
            fact.position
            for fact in facts
            if (stone := stones.get((fact.company, fact.conversation))) and fact.position <= stone.up_to
        )

    async def _late(self, about: FactSubject) -> bool:
        stones = await self._tombstones.of(about.company, about.user, about.conversation)
        if any(about.at <= stone.at for stone in stones):
            return True
        # Of a conversation that is not there again nothing new can be told.
        gone = about.conversation and any(stone.conversation for stone in stones)
        return bool(gone and not await self._store.living(about.company, [str(about.conversation)]))


def _alone(company: str, conversation: str, at: datetime, up_to: LogPosition) -> Erasure:
    return Erasure(company, "", (conversation,), at, up_to)
