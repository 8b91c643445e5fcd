"""The calls that are left to a caller, for display."""

import asyncio
from collections.abc import Iterable, Sequence

from contracts.events.tool import QuotaView
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.limits import Quota
from tool_executor.domain.plans import VerifiedCaller
from tool_executor.ports import RateLimiter, RedisUnavailableError

Quotas = dict[str, dict[str, QuotaView]]
"""The calls left, by tool and window."""


async def quotas_left(limiter: RateLimiter, caller: VerifiedCaller, entries: Sequence[Entry]) -> Quotas:
    """Returns the quota of each tool in each of its windows, consuming none; empty if the store is unavailable."""
    try:
        # All at once: the store sends them as one batch.
        decisions = await asyncio.gather(
            *(limiter.remaining(caller, entry.tool.name, entry.limits) for entry in entries)
        )
    except RedisUnavailableError:
        return {}
    return {entry.tool.name: quota_views(decision.quotas) for entry, decision in zip(entries, decisions, strict=True)}


def quota_views(quotas: Iterable[Quota]) -> dict[str, QuotaView]:
    """Returns the quotas as callers see them, by window."""
    return {
        quota.window.name: QuotaView(limit=quota.window.limit, remaining=quota.remaining, reset_at=quota.reset_at)
        for quota in quotas
    }
