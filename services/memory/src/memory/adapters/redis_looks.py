"""Human agents' activity in Redis: when each last read or typed in a conversation (for a day), how far they have read
(for a month), who is at the desk, and which mentions each has seen. There are a hash and a sorted set for each
conversation, and four keys for each company."""

import time
from collections.abc import Awaitable, Iterable, Mapping
from datetime import UTC, datetime
from typing import cast

from redis.asyncio import Redis

from memory.adapters.redis_errors import redis_errors

PREFIX, READ, DESK = "nexus:memory:looks:", "nexus:memory:read:", "nexus:memory:desk:"
TTL_SECONDS = 86_400 + 3_600
"""Longer than the longest ownerIdleMinutes."""
READ_TTL_SECONDS = 31 * 86_400
"""How long Redis remembers how far each has read, and the order of assignment: longer than people are away."""


def key_of(company: str, conversation: str) -> str:
    return f"{PREFIX}{company}:{conversation}"


def read_key(company: str, conversation: str) -> str:
    return f"{READ}{company}:{conversation}"


class RedisLooks:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    async def note(
        self, company: str, conversation: str, operator: str, looked_at: datetime, up_to: int | None = None
    ) -> None:
        """Stores that a human agent has looked, and how far they have read; raises RedisUnavailableError."""
        key, marks_key = key_of(company, conversation), read_key(company, conversation)
        with redis_errors("store that somebody looked"):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hset(key, operator, str(looked_at.timestamp()))
                pipe.expire(key, TTL_SECONDS)
                if up_to is not None:
                    # Of two browsers, the one that is behind must not move the mark back.
                    pipe.zadd(marks_key, {operator: up_to}, gt=True)
                    pipe.expire(marks_key, READ_TTL_SECONDS)
                await pipe.execute()

    async def last(self, company: str, conversation: str, operator: str) -> datetime | None:
        """The time of a human agent's last look within a day; raises RedisUnavailableError."""
        with redis_errors("read when somebody looked"):
            timestamp = await cast("Awaitable[bytes | None]", self._redis.hget(key_of(company, conversation), operator))
        return datetime.fromtimestamp(float(timestamp), UTC) if timestamp else None

    async def read(self, company: str, operator: str, conversations: Iterable[str]) -> list[int]:
        """The sequence up to which a human agent has read each conversation, 0 for nothing; raises
        RedisUnavailableError."""
        with redis_errors("read how far somebody has read"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for conversation in conversations:
                    pipe.zscore(read_key(company, conversation), operator)
                return [int(score or 0) for score in await pipe.execute()]

    async def note_mentions_seen(self, company: str, operator: str, up_to: datetime) -> None:
        """Stores that a human agent has seen the notes that mention them up to then; raises RedisUnavailableError."""
        with redis_errors("store how far somebody has read"):
            # Of two browsers, the one that is behind must not move the mark back.
            await self._redis.zadd(f"{DESK}{company}:named", {operator: round(up_to.timestamp() * 1000)}, gt=True)

    async def mentions_seen_until(self, company: str, operator: str) -> int:
        """The time up to which a human agent has seen the notes that mention them, in ms since the epoch, 0 for never;
        raises RedisUnavailableError."""
        with redis_errors("read how far somebody has read"):
            return int(await self._redis.zscore(f"{DESK}{company}:named", operator) or 0)

    async def at_desk(self, company: str, operator: str, name: str | None, seen_at: datetime, since: datetime) -> bool:
        """Stores that a human agent is at the desk. Returns whether nobody, including this one, has been there since
        then; raises RedisUnavailableError."""
        key = f"{DESK}{company}"
        with redis_errors("store who is at the desk"):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.zcount(f"{key}:here", since.timestamp(), "+inf")
                pipe.zadd(f"{key}:here", {operator: seen_at.timestamp()})
                pipe.hset(f"{key}:names", operator, name or "")
                for expiring_key in (f"{key}:here", f"{key}:names"):
                    pipe.expire(expiring_key, TTL_SECONDS)
                present, *_ = await pipe.execute()
        return not present

    async def leave(self, company: str, signed_out: Mapping[str, datetime]) -> None:
        """Human agents who have signed out everywhere since they were seen at the desk are there no more; raises
        RedisUnavailableError."""
        key = f"{DESK}{company}:here"
        with redis_errors("store who has left the desk"):
            async with self._redis.pipeline(transaction=False) as pipe:
                for operator in signed_out:
                    pipe.zscore(key, operator)
                seen_times = await pipe.execute()
            gone = [
                operator
                for (operator, at), seen_at in zip(signed_out.items(), seen_times, strict=True)
                if seen_at is not None and float(seen_at) <= at.timestamp()
            ]
            if gone:
                await self._redis.zrem(key, *gone)

    async def was_here(self, company: str, operator: str, since: datetime) -> bool:
        """Whether a human agent has been at the desk since then; raises RedisUnavailableError."""
        with redis_errors("read who is at the desk"):
            return (await self._redis.zscore(f"{DESK}{company}:here", operator) or 0) > since.timestamp()

    async def is_anybody_here(self, company: str, since: datetime) -> bool:
        """Whether a human agent has been at the desk since then; raises RedisUnavailableError."""
        with redis_errors("read who is at the desk"):
            return await self._redis.zcount(f"{DESK}{company}:here", since.timestamp(), "+inf") > 0

    async def colleagues(self, company: str) -> dict[str, str | None]:
        """The human agents who were at the desk within a day, with their names; raises RedisUnavailableError."""
        with redis_errors("read who was at the desk"):
            names = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(f"{DESK}{company}:names"))
        return {operator.decode(): name.decode() or None for operator, name in names.items()}

    async def next_in_turn(
        self, company: str, conversation: str, wait_id: str, since: datetime
    ) -> tuple[str, str] | None:
        """The next human agent to get a conversation, with their name: among those at the desk since then, the one who
        got none for the longest time. All calls for one wait get the same answer. None if nobody is at the desk.

        Raises:
            RedisUnavailableError.
        """
        key, looks_hash, field = f"{DESK}{company}", key_of(company, conversation), f":turn:{wait_id}"
        with redis_errors("read whose turn it is"):
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.zrangebyscore(f"{key}:here", since.timestamp(), "+inf")  # pyright: ignore[reportUnknownMemberType]
                pipe.zrange(f"{key}:given", 0, -1)  # pyright: ignore[reportUnknownMemberType]
                present, assigned = await pipe.execute()
            if not present:
                return None
            order = {operator: rank for rank, operator in enumerate(assigned)}
            chosen = min(present, key=lambda operator: (order.get(operator, -1), operator))
            async with self._redis.pipeline(transaction=False) as pipe:
                pipe.hsetnx(looks_hash, field, chosen)
                pipe.hget(looks_hash, field)
                pipe.expire(looks_hash, TTL_SECONDS)
                is_first, winner, _ = await pipe.execute()
            if is_first:
                await self._redis.zadd(f"{key}:given", {chosen: time.time()})
                await self._redis.expire(f"{key}:given", READ_TTL_SECONDS)
            name = await cast("Awaitable[bytes | None]", self._redis.hget(f"{key}:names", winner.decode()))
        return winner.decode(), (name or b"").decode()
