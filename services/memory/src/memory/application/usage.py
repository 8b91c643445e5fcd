"""Companies' usage: counts each event once, and reports by day."""

from collections.abc import Sequence

from contracts.memory_rpc import UsageBudget, UsageReply, UsageRequest
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.adapters.mongo_usage import MongoUsage
from memory.ports import Spent
from runtime.clock import Clock


class Usages:
    """Counts and reports companies' usage."""

    def __init__(
        self, *, store: MongoUsage, companies: MongoCompanies, clock: Clock, conversations: MongoReports
    ) -> None:
        self._store = store
        self._conversations = conversations
        self._companies = companies
        self._clock = clock

    async def count(self, spent: Sequence[Spent]) -> None:
        """Counts events for companies and for the conversations that they name; repeating one changes nothing."""
        await self._store.add(spent)
        await self._conversations.spend(spent)

    async def report(self, request: UsageRequest) -> UsageReply:
        """The requested days, and how much of today's budget is used; raises StoreUnavailableError."""
        company, since, until, today = request.company_id, request.since, request.until, self._clock.now().date()
        days = await self._store.days(company, since, until)
        today_days = days if since <= today <= until else await self._store.days(company, today, today)
        tokens_today = sum(day.prompt_tokens + day.completion_tokens for day in today_days if day.date == today)
        settings = await self._companies.get(company)
        limit = settings.config.budget.daily_tokens if settings else None
        return UsageReply(days=days, budget=UsageBudget(daily_tokens=limit, used_today=tokens_today))
