"""Remembers which of our messages have arrived in their channels."""

import time

from redis.asyncio import Redis

from memory.adapters.redis_errors import redis_errors

PREFIX = "nexus:memory:echoes:"
TTL_SECONDS = 2 * 86_400
"""Longer than a delivery is retried."""


class RedisEchoes:
    """Messages that are known to have arrived. Every method raises RedisUnavailableError."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, company: str, conversation: str, message: str | None, digest: str) -> None:
        with redis_errors("store an echo"):
            await self._redis.set(_key(company, conversation, message or digest), str(time.time()), ex=TTL_SECONDS)

    async def has(self, company: str, conversation: str, message: str, digest: str, since: float) -> bool:
        """Whether a message has arrived: by its id, or since then by the digest of its text if the channel lost its
        id."""
        keys = [_key(company, conversation, part) for part in (message, digest)]
        with redis_errors("read echoes"):
            by_id, by_digest = await self._redis.mget(keys)
        return by_id is not None or (by_digest is not None and float(by_digest) >= since)


def _key(company: str, conversation: str, part: str) -> str:
    return f"{PREFIX}{company}:{conversation}:{part}"
