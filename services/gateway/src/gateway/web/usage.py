"""GET /v2/usage and /v2/insights: what a company's assistant used, and how it is doing, day by day."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from contracts.insight_rpc import INSIGHTS, InsightsReply, InsightsRequest
from contracts.memory_rpc import USAGE, UsageReply, UsageRequest
from gateway.adapters.service_calls import ask
from gateway.errors import bad_field
from gateway.web.deps import AdminDep, ApiDep, OperatorDep
from gateway.web.moments import Day
from gateway.web.problems import described

router = APIRouter(tags=["usage"])

DEFAULT_DAYS = 30
MAX_DAYS = 366


FirstDay = Annotated[Day | None, Query(alias="from", description="the first day, 30 days by default")]
LastDay = Annotated[Day | None, Query(alias="to", description="the last day, today by default")]


async def get_days(api: ApiDep, since: FirstDay = None, until: LastDay = None) -> tuple[date, date]:
    """The first and last requested day (UTC), both included. Raises BAD_FIELD (422)."""
    return days_between(since, until, api.clock.now().date())


def days_between(since: date | None, until: date | None, today: date) -> tuple[date, date]:
    """The first and last requested day, both included. Raises BAD_FIELD (422)."""
    last_day = until or today
    first_day = since or date.fromordinal(max(last_day.toordinal() - DEFAULT_DAYS + 1, 1))
    if first_day > last_day:
        raise bad_field("from", "must not be after to")
    if (last_day - first_day).days >= MAX_DAYS:
        raise bad_field("from", f"ask for at most {MAX_DAYS} days")
    return first_day, last_day


DaysDep = Annotated[tuple[date, date], Depends(get_days)]


@router.get("/v2/usage", responses=described())
async def get_usage(api: ApiDep, caller: AdminDep, days: DaysDep) -> UsageReply:
    """Tokens, cost and turns of each day with usage, and today's use of the budget."""
    return await ask(api.rpc, USAGE, UsageRequest(company_id=caller.company, since=days[0], until=days[1]))


@router.get("/v2/insights", responses=described())
async def get_insights(api: ApiDep, caller: OperatorDep, days: DaysDep) -> InsightsReply:
    """By day: conversations begun, handed over and failed, and ratings of answers."""
    return await ask(api.rpc, INSIGHTS, InsightsRequest(company_id=caller.company, since=days[0], until=days[1]))
