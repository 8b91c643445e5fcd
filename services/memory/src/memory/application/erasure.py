"""Deletes users, visitors, conversations and companies from every store and stream; all but companies again a little
later.

What other replicas are storing at the same moment appears slightly later, so a deletion is a job: recorded first,
carried out at once, repeated once, and only then removed from the list. A process that dies, or an unavailable store,
delays the remaining steps without losing them. Each run counts what it finds before it removes anything.

A running tool call reports its outcome when it ends, up to a minute later; the process that made the second run checks
for it once more. The list of these checks is only in its memory, since a stored list would itself be data about the
user. Facts that arrive even later are recognised by tombstones (late_facts).
"""

import asyncio
from collections import Counter, deque
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from contracts.company_rpc import CompanyDeleted, CompanyRequest
from contracts.erasure_rpc import ErasedBy, ErasureKind, Receipt, Removed
from contracts.events.chat import VisitorMessage
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.mongo_receipts import MongoReceipts
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.other_services import OtherServices
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.companies import CompanyRegistry
from memory.application.memories import Memories
from memory.domain.deleted_words import without_statements
from memory.domain.erasure import Erasure
from memory.domain.keys import BEGINNING, MAX_SEQ, LogPosition
from memory.domain.receipt import (
    FIRST_RUN,
    LATE_RUN,
    NOTE_INTERRUPTED,
    NOTE_REPORTED,
    NOTE_STARTED,
    REPEAT_RUN,
    ErasureRecord,
    receipt_view,
)
from memory.domain.remembered import Remembered
from memory.errors import ProjectionBehindError
from runtime.clock import Clock

PROJECTION_TIMEOUT_SECONDS = 10.0
"""How long a deletion waits until everything in the log is in the store; what is not stored yet cannot be deleted."""
AGAIN_AFTER = timedelta(seconds=5)
CALLS_ENDED_AFTER = timedelta(seconds=75)
"""Time after which a running call has ended and its outcome is in the log (the executor allows 60 s)."""
SWEEP_BATCH = 20
MAX_AWAITING_CALLS = 1_000
"""Deletions that wait for running calls to end; beyond this number the oldest is dropped."""
MAX_FACTS = 20_000
"""Facts examined for statements in one conversation, at most."""
_END = LogPosition(10**13 - 1, MAX_SEQ)


@dataclass(slots=True, kw_only=True)
class DataErasure:
    """Deletes users, visitors, conversations and companies. `forget_knowledge` deletes a company's knowledge, and
    returns how much."""

    store: MongoErasure
    receipts: MongoReceipts
    tombstones: MongoTombstones
    bus: StreamErasure
    cache: CacheErasure
    files: KeptFiles
    others: OtherServices
    companies: CompanyRegistry
    forget_knowledge: Callable[[str], Awaitable[int]]
    memories: Memories
    facts: MongoFacts
    log: StreamLog
    floor: ProjectionFloor
    clock: Clock
    _awaiting_calls: deque[Erasure] = field(init=False, default_factory=lambda: deque(maxlen=MAX_AWAITING_CALLS))

    async def person(self, kind: ErasureKind, company: str, user: str, *, by: ErasedBy, receipt: str) -> Receipt:
        """Deletes a user or a visitor. Repeat the call if it fails.

        Raises:
            ProjectionBehindError, StoreUnavailableError, RedisUnavailableError, BusUnavailableError,
            ServiceUnavailableError.
        """
        await self.stored()
        earlier = await self.store.begun(company, user)
        conversations = set(earlier.conversations if earlier else ()) | set(
            await self.store.conversations_of(company, user)
        )
        receipt_id = earlier.receipt if earlier and earlier.receipt else receipt
        job = Erasure(company, user, tuple(sorted(conversations)), self.clock.now(), BEGINNING, receipt_id)
        return await self._begin(job, kind, by)

    async def conversations(
        self, kind: ErasureKind, company: str, names: Sequence[str], *, by: ErasedBy, receipt: str
    ) -> Receipt:
        """Deletes some conversations, with what was learned about their users there; raises as `person`."""
        await self.stored()
        earlier = await self.store.begun(company, f".{receipt}")
        people = tuple(earlier.people if earlier else await self.store.people_of(company, names))
        job = Erasure(company, "", tuple(sorted(names)), self.clock.now(), BEGINNING, receipt, people)
        return await self._begin(job, kind, by)

    async def company(self, request: CompanyRequest) -> CompanyDeleted:
        """Deletes a company; repeat the call if it fails. `deleted` is False if there was neither a company nor
        remaining data.

        Raises:
            MovedError, and what `person` raises.
        """
        company = request.company_id
        # The settings first: services stop answering and reading for it, and nothing new comes in.
        existed = await self.companies.delete(company)
        record = await self.companies.get_with_deleted(company)
        removed = Counter[str]()
        if record is not None and record.deleted:
            removed["knowledge"] += await self.forget_knowledge(company)
            # The newest messages may still be on their way to the store, and would appear there after the deletion.
            await self.stored()
            for place in (self.bus, self.store, self.cache, self.others, self.files):
                removed.update(await place.erase_company(company))
        places = [Removed(place=place, removed=count) for place, count in sorted(removed.items())]
        return CompanyDeleted(deleted=existed or any(removed.values()), removed=places)

    async def sweep(self) -> int:
        """Repeats deletions that began a while ago, and removes them from the list; returns how many."""
        due: Sequence[Erasure] = await self.store.due(self.clock.now() - AGAIN_AFTER, SWEEP_BATCH)
        calls_ended = self.clock.now() - CALLS_ENDED_AFTER
        if due or (self._awaiting_calls and self._awaiting_calls[0].at <= calls_ended):
            # The store must know who has written again: what they have written since then stays.
            await self.stored()
        for job in due:
            if job.up_to.era == 0:
                await self._erase_everywhere(job)
            else:
                await self._erase_again(job)
            await self.receipts.note(job.company, job.receipt, REPEAT_RUN, {}, self.clock.now())
            await self.store.done(job)
            self._awaiting_calls.append(job)
        while self._awaiting_calls and self._awaiting_calls[0].at <= calls_ended:
            await self._erase_call_outcomes(self._awaiting_calls[0])
            self._awaiting_calls.popleft()
        return len(due)

    async def _begin(self, job: Erasure, kind: ErasureKind, by: ErasedBy) -> Receipt:
        record = ErasureRecord(job.company, job.receipt, kind, by, job.at, len(job.conversations))
        record = await self.receipts.begin(record)
        if record.finished_at is not None:
            # Requested again after it had finished: what was written since then stays.
            return receipt_view(record)
        await self.store.begin(job)
        await self._erase_everywhere(job)
        # From here on the names may be used anew: the second run deletes only what lies before this position.
        swept_job = replace(job, up_to=LogPosition(self.log.era, await self.log.end()))
        await self.tombstones.keep(swept_job, self.clock.now())
        await self.store.begin(swept_job)
        return receipt_view(await self.receipts.get(job.company, job.receipt) or record)

    async def stored(self) -> None:
        """Returns once everything in the log is in the store; raises ProjectionBehindError."""
        end = await self.log.end()
        if not await self.floor.reach(end, PROJECTION_TIMEOUT_SECONDS):
            raise ProjectionBehindError(f"the projection is at {self.floor.seq} and the log ends at {end}: try again")

    async def _reappeared(self, job: Erasure) -> frozenset[str]:
        """The deleted conversations that exist again; for a user also new ones."""
        if job.user:
            return frozenset(await self.store.conversations_of(job.company, job.user))
        return frozenset(await self.store.existing(job.company, job.conversations))

    async def _erase_again(self, job: Erasure) -> None:
        if not await self._reappeared(job):
            # Nobody has written again, so what was published meanwhile belongs to what was deleted.
            plan = await self.bus.plan(job)
            await self.receipts.note(
                job.company, job.receipt, REPEAT_RUN, plan.counts | {"files": await self.files.count(job)}
            )
            await self.bus.carry_out(plan)
            await self.files.erase(job)
        await self.cache.erase(job)
        await self.store.erase_late(job)

    async def _erase_call_outcomes(self, job: Erasure) -> None:
        reappeared = await self._reappeared(job)
        absent = tuple(conversation for conversation in job.conversations if conversation not in reappeared)
        absent_job = replace(job, conversations=absent)
        plan = await (self.bus.plan_conversation_facts(absent_job) if reappeared else self.bus.plan(absent_job))
        await self.receipts.note(job.company, job.receipt, LATE_RUN, plan.counts)
        await self.bus.carry_out(plan)
        await self.store.erase_calls(absent_job, all_of_user=bool(job.user) and not reappeared)

    async def _erase_elsewhere(self, job: Erasure) -> dict[str, int]:
        """Deletes in other services and from remembered facts; returns how much, by place.

        They report how much they removed only afterwards, so a run that dies in between leaves too low a number in the
        receipt, which marks it as uncertain. Raises ServiceUnavailableError.
        """

        async def note(counts: dict[str, int]) -> None:
            await self.receipts.note(job.company, job.receipt, FIRST_RUN, counts)

        record = await self.receipts.get(job.company, job.receipt)
        noted = record.runs[FIRST_RUN] if record else dict[str, int]()
        await note({NOTE_STARTED: 1, NOTE_INTERRUPTED: int(NOTE_STARTED in noted and NOTE_REPORTED not in noted)})
        removed, failed = await self.others.erase(job.company, job.user) if job.user else ({}, None)
        await note(removed)
        if failed is not None:
            raise failed
        removed |= {"mongodb memories": await self._forget_statements(job)} if job.people else {}
        await note(removed | {NOTE_REPORTED: 1})
        return removed

    async def _forget_statements(self, job: Erasure) -> int:
        """Forgets, for each author, the facts that were learned from their messages in the conversations, since facts
        must not outlive their source; returns their number."""
        texts: list[str] = []
        for conversation in job.conversations:
            facts = await self.facts.after(job.company, conversation, BEGINNING, _END, MAX_FACTS)
            texts += [fact.data.text for fact in facts if isinstance(fact.data, VisitorMessage)]
        count = 0
        for person in job.people if texts else ():

            def without(state: Remembered) -> Remembered:
                return without_statements(state, texts, self.clock.now())[0]

            before, after = await self.memories.change(job.company, person, without)
            count += without_statements(before, texts, self.clock.now())[1] if after is not before else 0
        return count

    async def _erase_everywhere(self, job: Erasure) -> None:
        # From now on facts about earlier messages are recognised as late.
        job_before = replace(job, up_to=LogPosition(self.log.era, await self.log.end()))
        await self.tombstones.keep(job_before, self.clock.now())
        # First the services that publish facts about the user, then the streams: what is no longer in them cannot be
        # projected or read again.
        elsewhere = await self._erase_elsewhere(job)
        plan = await self.bus.plan(job)
        removed = plan.counts | {"redis": len(await self.cache.keys(job))} | elsewhere
        in_store = await self.store.counts(job) | {"files": await self.files.count(job)}
        await self.receipts.note(job.company, job.receipt, FIRST_RUN, in_store | removed)
        await self.bus.carry_out(plan)
        await self.files.erase(job)
        await asyncio.gather(self.store.erase(job), self.cache.erase(job))
