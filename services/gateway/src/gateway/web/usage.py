"""GET /v2/usage: what a company's assistant used, day by day, against its budget."""

from datetime import date
from typing import Annotated

from fastapi import APIRouter, Query

from contracts.errors import ErrorCode, FieldFault
from contracts.memory_rpc import UsageReply
from gateway.errors import Refused
from gateway.web.deps import AdminDep, ApiDep
from gateway.web.problems import described

router = APIRouter(tags=["usage"])

DEFAULT_DAYS = 30
MOST_DAYS = 366


@router.get("/v2/usage", responses=described())
async def get_usage(
    api: ApiDep,
    caller: AdminDep,
    since: Annotated[date | None, Query(alias="from", description="the first day (UTC), 30 days by default")] = None,
    until: Annotated[date | None, Query(alias="to", description="the last day (UTC), today by default")] = None,
) -> UsageReply:
    """Tokens, cost and turns of each day on which there were some, and what is used of today's budget."""
    last = until or api.clock.now().date()
    first = since or date.fromordinal(max(last.toordinal() - DEFAULT_DAYS + 1, 1))
    if first > last:
        raise _bad("from", "must not be after to")
    if (last - first).days >= MOST_DAYS:
        raise _bad("from", f"ask for at most {MOST_DAYS} days")
    return await api.records.usage(caller.company, first, last)


def _bad(field: str, message: str) -> Refused:
    return Refused(ErrorCode.BAD_FIELD, f"{field}: {message}", [FieldFault(field=field, message=message)])
