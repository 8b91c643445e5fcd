"""CacheEraser: Redis, and what every replica holds in its own process.

The processes are told over core NATS; whoever misses it holds nothing for long, and the deletion's second run tells
them again.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import cast

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from redis.asyncio import Redis
from redis.exceptions import RedisError

from memory.adapters.redis_looks import key_of as looks_key
from memory.adapters.redis_short_term import key_of
from memory.adapters.redis_windows import PREFIX
from memory.errors import CacheUnavailable
from runtime.connection import subscribe

FORGOTTEN = "rpc.memory.forgotten.v1"
"""{company, conversations}: what every replica of memory drops from its own memory."""

_log = structlog.get_logger(__name__)

Drop = Callable[[str, Sequence[str]], None]


class CacheErasure:
    """CacheEraser. `drops` take conversations out of what this process holds."""

    def __init__(self, client: Client, redis: Redis, drops: Sequence[Drop]) -> None:
        self._client = client
        self._redis = redis
        self._drops = drops

    async def start(self) -> None:
        """Listens for what other replicas delete."""
        await subscribe(self._client, FORGOTTEN, self._on_forgotten)

    async def stop(self) -> None:
        """The connection's end ends it."""

    async def erase(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes everything of the user in Redis and in every replica's own memory; raises CacheUnavailable."""
        self._drop(company, conversations)
        for start in range(0, len(conversations), 100):
            names = list(conversations[start : start + 100])
            await self._client.publish(FORGOTTEN, orjson.dumps({"company": company, "conversations": names}))
        every = frozenset(conversations)
        try:
            gone = [key_of(company, user).encode()]
            gone += [
                key async for key in self._keys(f"{PREFIX}*:{company}:*") if key.decode().rsplit(":", 1)[-1] in every
            ]
            gone += [looks_key(company, name).encode() for name in conversations]
            payers = every | {user}
            gone += [
                key
                async for key in self._keys(f"nexus:budget:{{{company}}}:*:hour:*")
                if key.decode().removesuffix(":held").rsplit(":", 1)[-1] in payers
            ]
            await self._redis.delete(*gone)
        except (RedisError, OSError, TimeoutError) as error:
            raise CacheUnavailable(f"Redis could not delete a user: {error}: try again") from error

    def _keys(self, pattern: str) -> AsyncIterator[bytes]:
        return cast(
            "AsyncIterator[bytes]",
            self._redis.scan_iter(match=pattern, count=1000),  # pyright: ignore[reportUnknownMemberType]
        )

    def _drop(self, company: str, conversations: Sequence[str]) -> None:
        for drop in self._drops:
            drop(company, conversations)

    async def _on_forgotten(self, message: Msg) -> None:
        try:
            told = orjson.loads(message.data)
            self._drop(str(told["company"]), [str(name) for name in told["conversations"]])
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            _log.warning("a notice of a deletion could not be read", error=repr(error))
