"""The positions up to which Redis has stored each source (PositionStore): a hash by name.

Its data are useful for a day at most, so nothing is recorded as missing.
"""

from collections.abc import Awaitable
from typing import Any, cast

from redis.asyncio import Redis
from redis.exceptions import RedisError

from memory.domain.keys import LogPosition
from memory.domain.progress import Missed
from memory.errors import CacheUnavailable
from runtime.redis_client import incarnation

KEY = "nexus:memory:positions"
_MOVE = """
if (redis.call('HGET', KEYS[1], ARGV[1]) or '') ~= ARGV[2] then return 0 end
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
return 1
"""


class RedisPositions:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._move = redis.register_script(_MOVE)

    async def incarnation(self) -> object:
        return await _answered(incarnation(self._redis))

    async def load(self) -> dict[str, LogPosition]:
        reply: Any = self._redis.hgetall(KEY)  # pyright: ignore[reportUnknownMemberType]
        held = cast("dict[bytes, bytes]", await _answered(reply))
        return {name.decode(): LogPosition(*map(int, at.decode().split("/"))) for name, at in held.items()}

    async def move(self, name: str, before: LogPosition | None, to: LogPosition) -> bool:
        arguments = [name, "" if before is None else str(before), str(to)]
        return bool(await _answered(self._move(keys=[KEY], args=arguments)))

    async def missed(self) -> list[Missed]:
        return []

    async def miss(self, gap: Missed) -> None:
        del gap


async def _answered(command: Awaitable[Any]) -> Any:
    try:
        return await command
    except (RedisError, OSError, TimeoutError) as error:
        raise CacheUnavailable(f"Redis does not return its position: {str(error)[:200]}") from error
