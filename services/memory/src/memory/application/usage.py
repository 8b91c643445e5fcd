"""Companies' usage: counts each event once, and reports by day."""

from collections.abc import Sequence
from dataclasses import dataclass

from contracts.memory_rpc import UsageBudget, UsageReply, UsageRequest
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_reports import MongoReports
from memory.adapters.mongo_usage import MongoUsage
from memory.ports import Spent
from runtime.clock import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class Usages:
    """Counts and reports companies' usage."""

    store: MongoUsage
    companies: MongoCompanies
    clock: Clock
    conversations: MongoReports

    async def count(self, spent: Sequence[Spent]) -> None:
        """Counts events for companies and for the conversations that they name; repeating one changes nothing."""
        await self.store.add(spent)
        await self.conversations.spend(spent)

    async def report(self, request: UsageRequest) -> UsageReply:
        """The requested days, and how much of today's budget is used; raises StoreUnavailableError."""
        company, since, until, today = request.company_id, request.since, request.until, self.clock.now().date()
        days = await self.store.days(company, since, until)
        today_days = days if since <= today <= until else await self.store.days(company, today, today)
        tokens_today = sum(day.prompt_tokens + day.completion_tokens for day in today_days if day.date == today)
        settings = await self.companies.get(company)
        limit = settings.config.budget.daily_tokens if settings else None
        return UsageReply(days=days, budget=UsageBudget(daily_tokens=limit, used_today=tokens_today))
