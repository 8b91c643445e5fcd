"""Which of our messages have arrived in their channels, for two days: longer than a delivery is retried."""

import time

from redis.asyncio import Redis

from memory.adapters.redis_errors import redis_errors

PREFIX = "nexus:memory:echoes:"
TTL_SECONDS = 2 * 86_400
"""Echoes are remembered for longer than a delivery is retried."""


class RedisEchoes:
    """Our messages known to have arrived. Every method raises RedisUnavailableError."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, company: str, conversation: str, message: str | None, digest: str) -> None:
        with redis_errors("store an echo"):
            await self._redis.set(_key(company, conversation, message or digest), str(time.time()), ex=TTL_SECONDS)

    async def has(self, company: str, conversation: str, message: str, digest: str, since: float) -> bool:
        """Whether it has arrived; if its id was lost, whether its text has since then."""
        keys = [_key(company, conversation, one) for one in (message, digest)]
        with redis_errors("read echoes"):
            by_id, by_words = await self._redis.mget(keys)
        return by_id is not None or (by_words is not None and float(by_words) >= since)


def _key(company: str, conversation: str, what: str) -> str:
    return f"{PREFIX}{company}:{conversation}:{what}"
