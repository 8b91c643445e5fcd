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

SLOW_SECONDS = 1.0
"""After this time storing counts as slow. Anything quicker is found by a deletion's second run."""
PROJECTION_TIMEOUT_SECONDS, RETRY_SECONDS = 1.0, 1.0
"""How long to wait until everything in the log is stored, and until a fact that depends on it is retried."""
ConversationDropper = Callable[[str, Sequence[str]], None]
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
        """The names of the user and the conversation in tombstones."""
        user_names = (f"{self.company}:{self.user}",) if self.user else ()
        return (*user_names, f"{self.company}/{self.conversation}") if self.conversation else user_names


@dataclass(frozen=True, slots=True, kw_only=True)
class LateFacts:
    """Keeps facts about deleted subjects out of the store. `drop` removes a conversation from this process's memory."""

    tombstones: MongoTombstones
    store: MongoErasure
    bus: StreamErasure
    log: StreamLog
    floor: ProjectionFloor
    drop: ConversationDropper
    clock: Clock

    async def project(
        self, facts: Sequence[LogFact], project: Callable[[Sequence[LogFact]], Awaitable[None]]
    ) -> Sequence[LogFact]:
        """Projects the facts whose conversations were not deleted, and returns them; raises StoreUnavailableError."""
        started = self.clock.monotonic()
        deleted = await self._deleted(facts)
        facts = [fact for fact in facts if fact.position not in deleted] if deleted else facts
        await project(facts)
        if self.clock.monotonic() - started > SLOW_SECONDS:
            deleted = await self._deleted(facts)
            for fact in (fact for fact in facts if fact.position in deleted):
                self.drop(fact.company, [fact.conversation])
                await self.store.erase_late(_single_erasure(fact.company, fact.conversation, fact.at, fact.position))
        return facts

    async def take(self, subject: FactSubject, take: Callable[[], Awaitable[Outcome]]) -> Outcome:
        """Stores a fact, or removes it from the stream if it is late; see take_all."""

        async def take_one(_: Sequence[None]) -> Sequence[Outcome]:
            return [await take()]

        return (await self.take_all([(subject, None)], take_one))[0]

    async def take_all(
        self,
        facts: Sequence[tuple[FactSubject, FactT]],
        take: Callable[[Sequence[FactT]], Awaitable[Sequence[Outcome]]],
    ) -> Sequence[Outcome]:
        """Stores the facts that are not late, and removes late ones from the stream. Undecided facts are retried later
        without delaying others.

        Raises:
            StoreUnavailableError, BusUnavailableError, and what `take` raises.
        """
        started = self.clock.monotonic()
        outcomes: list[Outcome] = [Ack() for _ in facts]
        late, undecided = await self._late({index: subject for index, (subject, _) in enumerate(facts)})
        for index in undecided:
            outcomes[index] = Retry(RETRY_SECONDS)
        timely = [index for index in range(len(facts)) if index not in late and index not in undecided]
        if timely:
            taken_outcomes = await take([facts[index][1] for index in timely])
            for index, outcome in zip(timely, taken_outcomes, strict=True):
                outcomes[index] = outcome
        if timely and self.clock.monotonic() - started > SLOW_SECONDS:
            for index, subject in (await self._late({index: facts[index][0] for index in timely}))[0].items():
                if subject.conversation and not await self.store.existing(subject.company, [subject.conversation]):
                    await self.store.erase(
                        _single_erasure(subject.company, subject.conversation, subject.at, LogPosition(0, 0))
                    )
                late[index], outcomes[index] = subject, Ack()
        for subject in late.values():
            await self.bus.remove(FACTS.name, subject.seq)
        return outcomes

    async def _deleted(self, facts: Sequence[LogFact]) -> frozenset[LogPosition]:
        tombstones = await self.tombstones.conversations({(fact.company, fact.conversation) for fact in facts})
        return frozenset(
            fact.position
            for fact in facts
            if (tombstone := tombstones.get((fact.company, fact.conversation))) and fact.position <= tombstone.up_to
        )

    async def _late(self, facts: Mapping[int, FactSubject]) -> tuple[dict[int, FactSubject], set[int]]:
        """The late facts, and the indexes of those for which this is undecided."""
        names = {name for subject in facts.values() for name in subject.names}
        tombstones = {tombstone.name: tombstone for tombstone in await self.tombstones.of(names)}
        late: dict[int, FactSubject] = {}
        of_deleted: dict[int, tuple[str, str]] = {}
        for index, subject in facts.items():
            matching = [tombstones[name] for name in subject.names if name in tombstones]
            if any(subject.at <= tombstone.at for tombstone in matching):
                late[index] = subject
            elif subject.conversation and any(tombstone.conversation for tombstone in matching):
                of_deleted[index] = subject.company, subject.conversation
        # Any fact of a deleted conversation that has not begun again is late.
        of_deleted = await self._not_existing(of_deleted)
        if not of_deleted:
            return late, set()
        is_stored = await self.floor.reach(await self.log.end(), PROJECTION_TIMEOUT_SECONDS)
        of_deleted = await self._not_existing(of_deleted)
        if not is_stored:
            return late, set(of_deleted)
        return late | {index: facts[index] for index in of_deleted}, set()

    async def _not_existing(self, facts: Mapping[int, tuple[str, str]]) -> dict[int, tuple[str, str]]:
        missing = {
            conversation
            for conversation in set(facts.values())
            if not await self.store.existing(conversation[0], [conversation[1]])
        }
        return {index: conversation for index, conversation in facts.items() if conversation in missing}


def _single_erasure(company: str, conversation: str, time: datetime, up_to: LogPosition) -> Erasure:
    return Erasure(company, "", (conversation,), time, up_to)
