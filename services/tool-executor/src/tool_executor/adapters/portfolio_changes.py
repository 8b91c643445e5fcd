"""Drops the cached results of a user when an order of theirs is filled or ends, at once and for all executors."""

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg

from runtime.bus.connection import subscribe
from tool_executor.adapters.result_cache import RedisResultCache
from tool_executor.ports import RedisUnavailableError

log = structlog.get_logger(__name__)

_CHANGES = ("order.filled.v1", "order.closed.v1", "action.decided.v1")
_QUEUE = "tool-executor"


class PortfolioChanges:
    """Subscribes in a queue group with the other executors: one of them is enough, because the cache is shared."""

    def __init__(self, client: Client, cache: RedisResultCache) -> None:
        self._client = client
        self._cache = cache

    async def start(self) -> None:
        """Subscribes to the changes. After a missed change, cached data stays for a few seconds longer."""
        for kind in _CHANGES:
            await subscribe(self._client, f"{kind}.*.*", self._on_change, queue=_QUEUE)

    async def _on_change(self, message: Msg) -> None:
        company, user = message.subject.split(".")[-2:]
        try:
            await self._cache.forget(f"{company}:{user}")
        except RedisUnavailableError as unavailable:
            log.warning("cache.not_forgotten", subject=message.subject, error=str(unavailable))
