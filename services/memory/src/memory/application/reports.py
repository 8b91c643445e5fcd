"""Reports of companies, counted on request, and the usual wait for a person."""

from collections.abc import Awaitable, Callable
from datetime import UTC, date, timedelta, tzinfo
from statistics import median

from contracts.report_rpc import By, Figure, RatingView, ReportOpenReply, ReportReply
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

    async def report(self, company: str, since: date, until: date, by: By | str) -> ReportReply:
        """The figures of these days in the company's time zone; raises StoreUnavailable."""
        counted, complete = await self._counted(company, since, until)
        return report(counted, by, await self._clock(), complete=complete)

    async def behind(
        self, company: str, since: date, until: date, by: By | str, key: str | None, figure: Figure | str
    ) -> ReportOpenReply:
        """The conversations behind a figure; raises StoreUnavailable."""
        counted, complete = await self._counted(company, since, until)
        now = await self._clock()
        names = [
            one.conversation for one in counted if (key is None or one.key(by) == key) and counts_in(one, figure, now)
        ]
        return ReportOpenReply(conversation_ids=names[:OPENED], complete=complete and len(names) <= OPENED)

    async def usual_wait(self, company: str) -> timedelta | None:
        """The median recent wait of those who got a person; None: too few have waited."""
        today = (await self._clock()).date()
        rows = await self._store.began(company, today - WAITS_OF, today, WAITS_LOOKED_AT)
        counted, _ = await self._store.counted(rows, WAITS_LOOKED_AT)
        waits = [one.digest.to_person for one in counted if one.digest.to_person is not None]
        return timedelta(seconds=median(waits)) if len(waits) >= LEAST_WAITS else None

    async def rating(self, company: str, conversation: str) -> RatingView | None:
        """What was said of a conversation."""
        said = await self._store.rating(company, conversation)
        return RatingView(score=said.score, comment=said.comment, rated_at=said.at) if said else None

    async def _counted(self, company: str, since: date, until: date) -> tuple[list[ReportedConversation], bool]:
        await self._fresh()
        rows = await self._store.began(company, since, until, MOST + 1, await self._zone(company))
        counted, complete = await self._store.counted(rows[:MOST], MADE)
        return counted, complete and len(rows) <= MOST

    async def _zone(self, company: str) -> tzinfo:
        settings = await self._companies.get(company)
        return settings.config.own_zone if settings else UTC
