"""Deletes users, visitors and conversations from every store and stream, and again a little later.

What other replicas were storing at the same moment appears slightly later, so a deletion is a job: recorded first,
carried out at once, repeated once, and only then removed from the list. A process that dies, or a store that is away,
delays the rest without losing it: each run counts what is there before it removes anything.

A running tool call reports its outcome when it ends, up to a minute later; the process that made the second run looks
for that once more. This list is only in its memory, since a stored list would itself be data about the user. What comes
later still is recognised by tombstones (late_facts).
"""

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from contracts.erasure_rpc import ErasedBy, ErasureKind, Receipt
from contracts.ids import uuid7
from memory.adapters.bus_erasure import StreamErasure
from memory.adapters.cache_erasure import CacheErasure
from memory.adapters.chat_log import StreamLog
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo_erasure import MongoErasure
from memory.adapters.mongo_receipts import MongoReceipts
from memory.adapters.mongo_tombstones import MongoTombstones
from memory.adapters.other_services import OtherServices
from memory.adapters.projection_floor import ProjectionFloor
from memory.application.deleted_words import DeletedWords
from memory.domain.erasure import Erasure
from memory.domain.keys import LogPosition
from memory.domain.receipt import AGAIN, ASKED, FIRST, LATE, TOLD, UNSURE, ErasureRecord, receipt_view
from memory.errors import ProjectionBehindError
from runtime.clock import Clock

FRESH = 10.0
"""Seconds to wait until everything in the log is in the store, since anything later cannot be deleted yet."""
AGAIN_AFTER = timedelta(seconds=5)
CALLS_END = timedelta(seconds=75)
"""Seconds after which a running call has ended and its outcome is in the log (the executor allows 60 s)."""
SWEPT = 20
REMEMBERED = 1_000
"""The most deletions that wait for calls to end; the oldest is dropped."""


class DataErasure:
    """Deletes users, visitors and conversations."""

    def __init__(
        self,
        *,
        store: MongoErasure,
        receipts: MongoReceipts,
        tombstones: MongoTombstones,
        bus: StreamErasure,
        cache: CacheErasure,
        files: KeptFiles,
        others: OtherServices,
        deleted_words: DeletedWords,
        log: StreamLog,
        floor: ProjectionFloor,
        clock: Clock,
    ) -> None:
        self._store = store
        self._receipts = receipts
        self._tombstones = tombstones
        self._bus = bus
        self._cache = cache
        self._files = files
        self._others = others
        self._deleted_words = deleted_words
        self._log = log
        self._floor = floor
        self._clock = clock
        self._late: deque[Erasure] = deque(maxlen=REMEMBERED)

    async def forget(self, company: str, user: str) -> int:
        """Deletes the user; returns how many conversations there were. Repeat the call if it fails.

        Raises:
            ProjectionBehindError, StoreUnavailableError, RedisUnavailableError, BusUnavailableError,
            ServiceUnavailableError.
        """
        return (await self.person("user", company, user, by="self", receipt=uuid7())).conversations

    async def person(self, kind: ErasureKind, company: str, user: str, *, by: ErasedBy, receipt: str) -> Receipt:
        """Deletes a user or a visitor; raises as `forget`."""
        await self.stored()
        begun = await self._store.begun(company, user)
        names = set(begun.conversations if begun else ()) | set(await self._store.conversations_of(company, user))
        name = begun.receipt if begun and begun.receipt else receipt
        return await self._begin(
            Erasure(company, user, tuple(sorted(names)), self._clock.now(), LogPosition(0, 0), name), kind, by
        )

    async def conversations(
        self, kind: ErasureKind, company: str, names: Sequence[str], *, by: ErasedBy, receipt: str
    ) -> Receipt:
        """Deletes some conversations, with what was learned about their users there; raises as `forget`."""
        await self.stored()
        begun = await self._store.begun(company, f".{receipt}")
        people = tuple(begun.people if begun else await self._store.people_of(company, names))
        now, nothing = self._clock.now(), LogPosition(0, 0)
        return await self._begin(Erasure(company, "", tuple(sorted(names)), now, nothing, receipt, people), kind, by)

    async def sweep(self) -> int:
        """Repeats deletions begun a while ago, and removes them from the list."""
        due: Sequence[Erasure] = await self._store.due(self._clock.now() - AGAIN_AFTER, SWEPT)
        ended = self._clock.now() - CALLS_END
        if due or (self._late and self._late[0].at <= ended):
            # The store must know who has come back: what they have written since then stays.
            await self.stored()
        for job in due:
            if job.up_to.era == 0:
                await self._erase_everywhere(job)
            else:
                await self._erase_again(job)
            await self._receipts.note(job.company, job.receipt, AGAIN, {}, self._clock.now())
            await self._store.done(job)
            self._late.append(job)
        while self._late and self._late[0].at <= ended:
            await self._erase_call_outcomes(self._late[0])
            self._late.popleft()
        return len(due)

    async def _begin(self, job: Erasure, kind: ErasureKind, by: ErasedBy) -> Receipt:
        record = ErasureRecord(job.company, job.receipt, kind, by, job.at, len(job.conversations))
        record = await self._receipts.begin(record)
        if record.finished_at is not None:
            # Asked for again after it had ended: what was written since then stays.
            return receipt_view(record)
        await self._store.begin(job)
        await self._erase_everywhere(job)
        # From here on the names may be used anew: only what lies before this point is swept again.
        ended = replace(job, up_to=LogPosition(self._log.era, await self._log.end()))
        await self._tombstones.keep(ended, self._clock.now())
        await self._store.begin(ended)
        return receipt_view(await self._receipts.get(job.company, job.receipt) or record)

    async def stored(self) -> None:
        """Returns once everything in the log is in the store; raises ProjectionBehindError."""
        end = await self._log.end()
        if not await self._floor.reach(end, FRESH):
            raise ProjectionBehindError(f"the projection is at {self._floor.seq} and the log ends at {end}: try again")

    async def _reappeared(self, job: Erasure) -> frozenset[str]:
        """Those of the conversations that have reappeared; for a user also new ones."""
        if job.user:
            return frozenset(await self._store.conversations_of(job.company, job.user))
        return frozenset(await self._store.existing(job.company, job.conversations))

    async def _erase_again(self, job: Erasure) -> None:
        if not await self._reappeared(job):
            # They have not come back, so what was published meanwhile belongs to what was deleted.
            plan = await self._bus.plan(job)
            await self._receipts.note(
                job.company, job.receipt, AGAIN, plan.found | {"files": await self._files.count(job)}
            )
            await self._bus.carry_out(plan)
            await self._files.erase(job)
        await self._cache.erase(job)
        await self._store.erase_late(job)

    async def _erase_call_outcomes(self, job: Erasure) -> None:
        reappeared = await self._reappeared(job)
        gone = replace(job, conversations=tuple(name for name in job.conversations if name not in reappeared))
        plan = await (self._bus.plan_conversation_facts(gone) if reappeared else self._bus.plan(gone))
        await self._receipts.note(job.company, job.receipt, LATE, plan.found)
        await self._bus.carry_out(plan)
        await self._store.erase_calls(gone, own=bool(job.user) and not reappeared)

    async def _erase_elsewhere(self, job: Erasure) -> dict[str, int]:
        """Deletes in other services and from what is remembered, which tell only afterwards how much they removed; a
        run that ends in between leaves too low a number in the receipt, which says so. Raises
        ServiceUnavailableError."""

        async def note(found: dict[str, int]) -> None:
            await self._receipts.note(job.company, job.receipt, FIRST, found)

        held = await self._receipts.get(job.company, job.receipt)
        first = held.runs[FIRST] if held else dict[str, int]()
        await note({ASKED: 1, UNSURE: int(ASKED in first and TOLD not in first)})
        found, failed = await self._others.erase(job.company, job.user) if job.user else ({}, None)
        await note(found)
        if failed is not None:
            raise failed
        found |= {"mongodb memories": await self._deleted_words.forget(job)} if job.people else {}
        await note(found | {TOLD: 1})
        return found

    async def _erase_everywhere(self, job: Erasure) -> None:
        # From now on facts about what was said before are known to be late.
        before = replace(job, up_to=LogPosition(self._log.era, await self._log.end()))
        await self._tombstones.keep(before, self._clock.now())
        # First the services that publish facts about the user, then the streams: what those no longer hold, nobody
        # projects or reads again.
        elsewhere = await self._erase_elsewhere(job)
        plan = await self._bus.plan(job)
        found = plan.found | {"redis": len(await self._cache.keys(job))} | elsewhere
        stored = await self._store.found(job) | {"files": await self._files.count(job)}
        await self._receipts.note(job.company, job.receipt, FIRST, stored | found)
        await self._bus.carry_out(plan)
        await self._files.erase(job)
        await asyncio.gather(self._store.erase(job), self._cache.erase(job))
