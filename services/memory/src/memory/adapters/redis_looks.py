"""When a human agent last read or typed in a conversation: one hash a conversation, for a day after the last look."""

from collections.abc import Awaitable
from datetime import UTC, datetime
from typing import cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from memory.errors import CacheUnavailable

PREFIX = "nexus:memory:looks:"
TTL_SECONDS = 86_400 + 3_600
"""Longer than the longest ownerIdleMinutes."""


def key_of(company: str, conversation: str) -> str:
    """Where a conversation's looks are."""
    return f"{PREFIX}{company}:{conversation}"


class RedisLooks:
    """Looks."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(self, company: str, conversation: str, operator: str, at: datetime) -> None:
        """They have looked; raises CacheUnavailable."""
        key = key_of(company, conversation)
        try:
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hset(key, operator, str(at.timestamp()))
                pipe.expire(key, TTL_SECONDS)
                await pipe.execute()
        except (RedisError, OSError, TimeoutError) as error:
            raise CacheUnavailable(f"Redis could not note a look: {error}") from error

    async def last(self, company: str, conversation: str, operator: str) -> datetime | None:
        """When they looked last, if within a day; raises CacheUnavailable."""
        try:
            found = await cast("Awaitable[bytes | None]", self._redis.hget(key_of(company, conversation), operator))
        except (RedisError, OSError, TimeoutError) as error:
            raise CacheUnavailable(f"Redis could not tell when somebody looked: {error}") from error
        return datetime.fromtimestamp(float(found), UTC) if found else None
