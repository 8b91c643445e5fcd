"""Retention: deletes conversations, files and traces older than their company keeps them, daily at three in the
morning (UTC), with a receipt; a preview is available before. A conversation that a person works on, is asked for in,
or has snoozed stays until that ends."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_OID, uuid5

import structlog

from contracts.company import Retention
from contracts.erasure_rpc import Keeping, KeepingRequest, Outdated
from memory.adapters.kept_files import KeptFiles
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_retention import MongoRetention
from memory.adapters.recorded_traces import RecordedTraces
from memory.application.erasure import DataErasure
from runtime.clock import Clock

HOUR = 3
AT_ONCE = 200
"""Conversations of one deletion and one receipt."""
MOST = 5_000
"""The most that are counted for a preview."""
COMPANIES = 100
_NOTHING = Retention()

_log = structlog.get_logger(__name__)


class RetentionSweep:
    """The daily run over all companies. Replicas may run it at the same time."""

    def __init__(
        self,
        *,
        companies: MongoCompanies,
        store: MongoRetention,
        files: KeptFiles,
        traces: RecordedTraces,
        erasure: DataErasure,
        also: Callable[[datetime], Awaitable[None]],
        clock: Clock,
    ) -> None:
        self._companies = companies
        self._store = store
        self._files = files
        self._traces = traces
        self._erasure = erasure
        self._also = also
        self._clock = clock

    async def preview(self, asked: KeepingRequest) -> Keeping:
        """Counts what the next run would delete; raises StoreUnavailableError, BusUnavailableError."""
        company, now = asked.company_id, self._clock.now()
        found = await self._companies.get(company)
        kept = found.config.retention if found else _NOTHING
        old = await self._old(company, kept.conversation_days, MOST + 1)
        sent = _before(now, kept.file_days)
        files = await self._files.count_old(company, sent, MOST + 1) if sent else 0
        spans = _before(now, kept.trace_days)
        recorded = await self._traces.count(company, spans, MOST + 1) if spans else 0
        return Keeping(
            next_run=_next(now),
            conversations=_outdated(kept.conversation_days, now, len(old)),
            files=_outdated(kept.file_days, now, files),
            traces=_outdated(kept.trace_days, now, recorded),
        )

    async def sweep(self) -> int:
        """Runs once a day; returns how many conversations were deleted."""
        now = self._clock.now()
        day = now.astimezone(UTC).date().isoformat()
        if now.astimezone(UTC).hour < HOUR or await self._store.done(day):
            return 0
        gone, after = 0, ""
        while companies := await self._companies.existing_after(after, COMPANIES):
            for one in companies:
                gone += await self._company(one.config.company_id, one.config.retention, day)
            after = companies[-1].config.company_id
        await self._also(now)
        await self._store.finish(day)
        return gone

    async def _company(self, company: str, kept: Retention, day: str) -> int:
        gone = 0
        if (before := _before(self._clock.now(), kept.trace_days)) is not None:
            await self._traces.purge(company, before)
        if (before := _before(self._clock.now(), kept.file_days)) is not None:
            files = await self._files.delete_old(company, before)
            _log.info("old files were deleted", company=company, files=files)
        await self._files.recount(company)
        while names := await self._old(company, kept.conversation_days, AT_ONCE):
            # The same id for the same conversations, so that an interrupted run continues its receipt.
            receipt = str(uuid5(NAMESPACE_OID, "/".join((company, day, *names))))
            await self._erasure.conversations("retention", company, names, by="retention", receipt=receipt)
            gone += len(names)
        if gone:
            _log.info("old conversations were deleted", company=company, conversations=gone)
        return gone

    async def _old(self, company: str, days: int | None, limit: int) -> list[str]:
        before = _before(self._clock.now(), days)
        return [] if before is None else await self._store.older(company, before, limit)


def _before(now: datetime, days: int | None) -> datetime | None:
    return None if days is None else now - timedelta(days=days)


def _outdated(days: int | None, now: datetime, count: int) -> Outdated:
    return Outdated(days=days, before=_before(now, days), count=min(count, MOST), at_least=count > MOST)


def _next(now: datetime) -> datetime:
    today = now.astimezone(UTC).replace(hour=HOUR, minute=0, second=0, microsecond=0)
    return today if now < today else today + timedelta(days=1)
