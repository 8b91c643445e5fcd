"""The positions up to which Redis has stored each source (PositionStore): a hash by name.

Redis's data are useful for a day at most, so nothing is recorded as missing.
"""

from collections.abc import Awaitable
from typing import cast

from redis.asyncio import Redis

from memory.adapters.redis_errors import redis_errors
from memory.domain.keys import LogPosition, position_of
from memory.domain.progress import Missed
from runtime.stores.redis_client import incarnation

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
        with redis_errors("tell its uptime"):
            return await incarnation(self._redis)

    async def load(self) -> dict[str, LogPosition]:
        with redis_errors("read its positions"):
            positions = await cast("Awaitable[dict[bytes, bytes]]", self._redis.hgetall(KEY))
        return {name.decode(): position_of(position.decode()) for name, position in positions.items()}

    async def move(self, name: str, expected: LogPosition | None, new: LogPosition) -> bool:
        arguments = [name, "" if expected is None else str(expected), str(new)]
        with redis_errors("store its position"):
            return bool(await cast("Awaitable[int]", self._move(keys=[KEY], args=arguments)))

    async def missed(self) -> list[Missed]:
        return []

    async def miss(self, gap: Missed) -> None:
        del gap
