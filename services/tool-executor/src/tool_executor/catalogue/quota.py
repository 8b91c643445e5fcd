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


class QuotaReader:
    """Reads quotas without consuming them; returns none while the shared store is unavailable."""

    def __init__(self, limiter: RateLimiter) -> None:
        self._limiter = limiter

    async def read(self, caller: VerifiedCaller, entries: Sequence[Entry]) -> Quotas:
        """Returns the quota of each tool in each of its windows; empty if the store is unavailable."""
        try:
            # All at once: the store sends them as one batch.
            views = await asyncio.gather(*(self._of(caller, entry) for entry in entries))
        except RedisUnavailableError:
            return {}
        return dict(zip((entry.tool.name for entry in entries), views, strict=True))

    async def _of(self, caller: VerifiedCaller, entry: Entry) -> dict[str, QuotaView]:
        return quota_views((await self._limiter.remaining(caller, entry.tool.name, entry.limits)).quotas)


def quota_views(quotas: Iterable[Quota]) -> dict[str, QuotaView]:
    """Returns the quotas as callers see them, by window."""
    return {
        quota.window.name: QuotaView(limit=quota.window.limit, remaining=quota.remaining, reset_at=quota.reset_at)
        for quota in quotas
    }
