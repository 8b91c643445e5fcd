"""Deletes conversations from Redis, and from the memory of every replica's process.

Other processes get a message over core NATS. One that misses it does not cache anything for long, and the deletion's
second run repeats the message.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import cast

import structlog
from nats.aio.client import Client
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.erasure_rpc import FORGOTTEN, DeletedConversations
from memory.adapters.redis_echoes import PREFIX as ECHOES
from memory.adapters.redis_errors import redis_errors
from memory.adapters.redis_looks import DESK, READ, read_key
from memory.adapters.redis_looks import PREFIX as LOOKS
from memory.adapters.redis_looks import key_of as looks_key
from memory.adapters.redis_short_term import PREFIX as SHORT_TERM
from memory.adapters.redis_short_term import key_of
from memory.adapters.redis_windows import PREFIX
from memory.domain.erasure import Erasure
from memory.domain.spending_limits import PREFIX as BUDGETS
from runtime.deletions import follow_deletions

_log = structlog.get_logger(__name__)

ConversationDropper = Callable[[str, Sequence[str]], None]


class CacheErasure:
    """Deletes cached data. `drops` remove conversations from this process's caches."""

    def __init__(self, client: Client, redis: Redis, drops: Sequence[ConversationDropper]) -> None:
        self._client = client
        self._redis = redis
        self._drops = drops

    async def follow(self) -> None:
        """Drops from now on what other replicas delete, too."""
        await follow_deletions(self._client, self._drop)

    async def keys(self, job: Erasure) -> list[bytes]:
        """The existing keys in Redis of the user or of the conversations and their people; raises
        RedisUnavailableError.

        Spent budgets stay until they expire, so that deleting oneself does not renew them.
        """
        company, conversations = job.company, frozenset(job.conversations)
        possible_keys = [
            key(company, conversation).encode() for conversation in job.conversations for key in (looks_key, read_key)
        ]
        possible_keys += [key_of(company, person).encode() for person in (job.user, *job.people) if person]
        with redis_errors("scan its keys"):
            keys = [key for key in possible_keys if await self._redis.exists(key)]
            keys += [key async for key in self._keys(f"{PREFIX}*:{company}:*") if _part(key, -1) in conversations]
            keys += [key async for key in self._keys(f"{ECHOES}{company}:*") if _part(key, 4) in conversations]
        return keys

    async def erase(self, job: Erasure) -> None:
        """Deletes from Redis and from every replica's memory; raises RedisUnavailableError."""
        company, conversations = job.company, job.conversations
        self._drop(company, conversations)
        for start in range(0, len(conversations), 100):
            batch = list(conversations[start : start + 100])
            await self._client.publish(FORGOTTEN, DeletedConversations(company=company, conversations=batch).to_json())
        keys = await self.keys(job)
        with redis_errors("delete a user"):
            if keys:
                await self._redis.delete(*keys)

    async def erase_company(self, company: str) -> dict[str, int]:
        """Deletes every key of the company, spent budgets included; returns how many. Raises RedisUnavailableError."""
        patterns = (
            f"{SHORT_TERM}{{{company}:*",
            f"{PREFIX}*:{company}:*",
            f"{ECHOES}{company}:*",
            f"{LOOKS}{company}:*",
            f"{READ}{company}:*",
            f"{DESK}{company}:*",
            f"{BUDGETS}{{{company}}}:*",
        )
        removed = 0
        with redis_errors("delete a company"):
            for pattern in patterns:
                keys = [key async for key in self._keys(pattern)]
                if pattern.startswith(PREFIX):
                    keys = [key for key in keys if _part(key, -2) == company]
                if keys:
                    removed += int(await self._redis.delete(*keys))
        return {"redis": removed}

    async def rewrite(self) -> None:
        """Makes Redis rewrite its append-only file, which still contains what was deleted; does nothing if Redis has no
        such file or refuses the command."""
        try:
            await self._redis.bgrewriteaof()  # pyright: ignore[reportUnknownMemberType]
        except (RedisError, OSError, TimeoutError) as error:
            _log.info("Redis does not write its file anew", error=str(error)[:200])

    def _keys(self, pattern: str) -> AsyncIterator[bytes]:
        return cast(
            "AsyncIterator[bytes]",
            self._redis.scan_iter(match=pattern, count=1000),  # pyright: ignore[reportUnknownMemberType]
        )

    def _drop(self, company: str, conversations: Sequence[str]) -> None:
        for drop in self._drops:
            drop(company, conversations)


def _part(key: bytes, index: int) -> str:
    return key.decode().split(":")[index]
