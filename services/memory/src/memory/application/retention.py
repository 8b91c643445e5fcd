"""Retention: deletes conversations, files and traces that are older than their company keeps them, daily after 03:00
UTC, with receipts; a preview counts them before. A conversation stays while a person owns it, is asked for in it, or
has snoozed it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
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

RUN_HOUR_UTC = 3
CONVERSATIONS_PER_ERASURE = 200
"""Conversations in one deletion, with one receipt."""
MAX_COUNTED = 5_000
"""A preview counts no further than this."""
COMPANIES_PER_QUERY = 100
_NO_RETENTION = Retention()

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class RetentionSweep:
    """The daily run over all companies. Replicas may run it at the same time. `after_run` is called at its end."""

    companies: MongoCompanies
    store: MongoRetention
    files: KeptFiles
    traces: RecordedTraces
    erasure: DataErasure
    after_run: Callable[[datetime], Awaitable[None]]
    clock: Clock

    async def preview(self, request: KeepingRequest) -> Keeping:
        """Counts what the next run would delete; raises StoreUnavailableError, BusUnavailableError."""
        company, now = request.company_id, self.clock.now()
        settings = await self.companies.get(company)
        retention = settings.config.retention if settings else _NO_RETENTION
        old = await self._old_conversations(company, retention.conversation_days, MAX_COUNTED + 1)
        files_before = _cutoff(now, retention.file_days)
        files = await self.files.count_old(company, files_before, MAX_COUNTED + 1) if files_before else 0
        traces_before = _cutoff(now, retention.trace_days)
        traces = await self.traces.count(company, traces_before, MAX_COUNTED + 1) if traces_before else 0
        return Keeping(
            next_run=_next_run(now),
            conversations=_outdated(retention.conversation_days, now, len(old)),
            files=_outdated(retention.file_days, now, files),
            traces=_outdated(retention.trace_days, now, traces),
        )

    async def sweep(self) -> int:
        """Runs once a day; returns how many conversations were deleted."""
        now = self.clock.now()
        day = now.astimezone(UTC).date().isoformat()
        if now.astimezone(UTC).hour < RUN_HOUR_UTC or await self.store.done(day):
            return 0
        deleted, after = 0, ""
        while companies := await self.companies.existing_after(after, COMPANIES_PER_QUERY):
            for settings in companies:
                deleted += await self._apply(settings.config.company_id, settings.config.retention, day)
            after = companies[-1].config.company_id
        await self.after_run(now)
        await self.store.finish(day)
        return deleted

    async def _apply(self, company: str, retention: Retention, day: str) -> int:
        deleted = 0
        if (before := _cutoff(self.clock.now(), retention.trace_days)) is not None:
            await self.traces.purge(company, before)
        if (before := _cutoff(self.clock.now(), retention.file_days)) is not None:
            files = await self.files.delete_old(company, before)
            _log.info("old files were deleted", company=company, files=files)
        await self.files.recount(company)
        while conversations := await self._old_conversations(
            company, retention.conversation_days, CONVERSATIONS_PER_ERASURE
        ):
            # The id is the same for the same conversations, so that a run after an interruption continues the receipt.
            receipt = str(uuid5(NAMESPACE_OID, "/".join((company, day, *conversations))))
            await self.erasure.conversations("retention", company, conversations, by="retention", receipt=receipt)
            deleted += len(conversations)
        if deleted:
            _log.info("old conversations were deleted", company=company, conversations=deleted)
        return deleted

    async def _old_conversations(self, company: str, days: int | None, limit: int) -> list[str]:
        before = _cutoff(self.clock.now(), days)
        return [] if before is None else await self.store.older(company, before, limit)


def _cutoff(now: datetime, days: int | None) -> datetime | None:
    return None if days is None else now - timedelta(days=days)


def _outdated(days: int | None, now: datetime, count: int) -> Outdated:
    return Outdated(days=days, before=_cutoff(now, days), count=min(count, MAX_COUNTED), at_least=count > MAX_COUNTED)


def _next_run(now: datetime) -> datetime:
    today = now.astimezone(UTC).replace(hour=RUN_HOUR_UTC, minute=0, second=0, microsecond=0)
    return today if now < today else today + timedelta(days=1)
