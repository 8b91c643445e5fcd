"""Companies' reports, counted on request, and the usual wait for a person."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, timedelta, tzinfo
from math import ceil
from statistics import median

from contracts.conversation_rpc import ConversationRef
from contracts.report_rpc import RatingReply, ReportOpenReply, ReportOpenRequest, ReportReply, ReportRequest
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.domain.report import ReportedConversation, counts_in, report
from memory.ports import LogClock

MAX_CONVERSATIONS = 20_000
"""Conversations counted for one report at most."""
MAX_NEW_DIGESTS = 2_000
"""Digests computed for one report at most; the next report computes the others."""
MAX_OPENED = 1_000
WAIT_PERIOD = timedelta(days=14)
MIN_WAITS = 3
"""With fewer waits there is no usual wait."""
MAX_WAITS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Reports:
    """Counts companies' reports."""

    store: MongoReports
    companies: MongoCompanies
    fresh: Callable[[], Awaitable[None]]
    clock: LogClock

    async def report(self, request: ReportRequest) -> ReportReply:
        """The figures of the requested days in the company's time zone; raises StoreUnavailableError."""
        counted, complete = await self._counted(request)
        return report(counted, request.by, await self.clock(), complete=complete)

    async def conversations_counted(self, request: ReportOpenRequest) -> ReportOpenReply:
        """The conversations that a figure counts; raises StoreUnavailableError."""
        counted, complete = await self._counted(request)
        now = await self.clock()
        rows = [
            conversation
            for conversation in counted
            if request.key is None or conversation.key(request.by) == request.key
        ]
        names = [conversation.conversation for conversation in rows if counts_in(conversation, request.figure, now)]
        return ReportOpenReply(conversation_ids=names[:MAX_OPENED], complete=complete and len(names) <= MAX_OPENED)

    async def usual_wait(self, company: str) -> timedelta | None:
        """The median recent wait of those who got a person, rounded up to 10 seconds; None if too few have waited."""
        today = (await self.clock()).date()
        rows = await self.store.began(company, today - WAIT_PERIOD, today, MAX_WAITS)
        counted, _ = await self.store.counted(rows, MAX_WAITS)
        waits = [conversation.digest.to_person for conversation in counted if conversation.digest.to_person is not None]
        return timedelta(seconds=10 * ceil(median(waits) / 10)) if len(waits) >= MIN_WAITS else None

    async def rating(self, request: ConversationRef) -> RatingReply:
        """The visitor's rating of a conversation."""
        return RatingReply(rating=await self.store.rating(request.company_id, request.conversation_id))

    async def _counted(self, request: ReportRequest) -> tuple[list[ReportedConversation], bool]:
        await self.fresh()
        zone = await self._zone(request.company_id)
        rows = await self.store.began(request.company_id, request.since, request.until, MAX_CONVERSATIONS + 1, zone)
        counted, complete = await self.store.counted(rows[:MAX_CONVERSATIONS], MAX_NEW_DIGESTS)
        return counted, complete and len(rows) <= MAX_CONVERSATIONS

    async def _zone(self, company: str) -> tzinfo:
        settings = await self.companies.get(company)
        return settings.config.own_zone if settings else UTC
