"""Reports of companies, counted on request, and the usual wait for a person."""

from collections.abc import Awaitable, Callable
from datetime import UTC, timedelta, tzinfo
from math import ceil
from statistics import median

from contracts.conversation_rpc import ConversationRef
from contracts.report_rpc import (
    RatingReply,
    RatingView,
    ReportOpenReply,
    ReportOpenRequest,
    ReportReply,
    ReportRequest,
)
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.domain.report import ReportedConversation, counts_in, report
from memory.ports import LogClock

MOST = 20_000
"""Conversations counted for one report."""
MADE = 2_000
"""Digests made by one report; the next report makes the rest."""
OPENED = 1_000
WAITS_OF = timedelta(days=14)
LEAST_WAITS = 3
"""How many people must have waited before a usual wait is told."""
WAITS_LOOKED_AT = 500


class Reports:
    """The reports of all companies."""

    def __init__(
        self,
        *,
        store: MongoReports,
        companies: MongoCompanies,
        fresh: Callable[[], Awaitable[None]],
        clock: LogClock,
    ) -> None:
        self._store = store
        self._companies = companies
        self._fresh = fresh
        self._clock = clock

    async def report(self, asked: ReportRequest) -> ReportReply:
        """The figures of these days in the company's time zone; raises StoreUnavailableError."""
        counted, complete = await self._counted(asked)
        return report(counted, asked.by, await self._clock(), complete=complete)

    async def behind(self, asked: ReportOpenRequest) -> ReportOpenReply:
        """The conversations behind a figure; raises StoreUnavailableError."""
        counted, complete = await self._counted(asked)
        now = await self._clock()
        rows = [one for one in counted if asked.key is None or one.key(asked.by) == asked.key]
        names = [one.conversation for one in rows if counts_in(one, asked.figure, now)]
        return ReportOpenReply(conversation_ids=names[:OPENED], complete=complete and len(names) <= OPENED)

    async def usual_wait(self, company: str) -> timedelta | None:
        """The median recent wait of those who got a person, in whole tens of seconds; None: too few have waited."""
        today = (await self._clock()).date()
        rows = await self._store.began(company, today - WAITS_OF, today, WAITS_LOOKED_AT)
        counted, _ = await self._store.counted(rows, WAITS_LOOKED_AT)
        waits = [one.digest.to_person for one in counted if one.digest.to_person is not None]
        return timedelta(seconds=10 * ceil(median(waits) / 10)) if len(waits) >= LEAST_WAITS else None

    async def rating(self, asked: ConversationRef) -> RatingReply:
        """The visitor's rating of a conversation."""
        said = await self._store.rating(asked.company_id, asked.conversation_id)
        return RatingReply(
            rating=RatingView(score=said.score, comment=said.comment, rated_at=said.at) if said else None
        )

    async def _counted(self, asked: ReportRequest) -> tuple[list[ReportedConversation], bool]:
        await self._fresh()
        zone = await self._zone(asked.company_id)
        rows = await self._store.began(asked.company_id, asked.since, asked.until, MOST + 1, zone)
        counted, complete = await self._store.counted(rows[:MOST], MADE)
        return counted, complete and len(rows) <= MOST

    async def _zone(self, company: str) -> tzinfo:
        settings = await self._companies.get(company)
        return settings.config.own_zone if settings else UTC
