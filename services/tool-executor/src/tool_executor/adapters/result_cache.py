"""Caches results in Redis, and decides which process computes a value that many miss at once (the lead)."""

import asyncio
import random
import secrets

import orjson

from runtime.workers.pull_worker import LEASE
from tool_executor.adapters.redis_store import RedisStore, Script
from tool_executor.adapters.renewals import Renewals
from tool_executor.domain.declaration import Data

_YIELD = Script("if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0")
_RENEW = Script(
    "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end return 0"
)
_JITTER = 0.1
_GENERATION = 3_600_000
_FIRST_LOOK = 0.005
_LAST_LOOK = 0.1


class RedisResultCache:
    def __init__(self, store: RedisStore, renewals: Renewals) -> None:
        self._store = store
        self._renewals = renewals

    async def get(self, key: str) -> Data | None:
        """The cached data; None if there is none. Raises RedisUnavailableError."""
        kept = await self._store.command("GET", f"tool:cache:{key}")
        return None if kept is None else orjson.loads(kept)

    async def put(self, key: str, data: Data, seconds: float) -> None:
        """Keeps the data. Raises RedisUnavailableError."""
        # Kept a little shorter by chance, so that what was kept together does not end together.
        kept = max(int(seconds * 1000 * (1 - random.random() * _JITTER)), 1)
        await self._store.command("SET", f"tool:cache:{key}", orjson.dumps(data), "PX", kept)

    async def lead(self, key: str, seconds: float) -> str | None:
        """A token when the caller is to compute the value; None when another process does. Raises
        RedisUnavailableError."""
        name, token = f"tool:lead:{key}", secrets.token_hex(8)
        milliseconds = max(int(min(seconds, LEASE) * 1000), 1)
        if not await self._store.command("SET", name, token, "NX", "PX", milliseconds):
            return None
        if seconds > LEASE:
            self._renewals.hold(name, _RENEW, token, milliseconds, longest=seconds)
        return token

    async def follow(self, key: str, seconds: float) -> Data | None:
        """Waits for the leader's value, at most that long; None when it gave none. Raises RedisUnavailableError."""
        pause = _FIRST_LOOK
        end = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < end:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _LAST_LOOK)
            led = await self._store.command("EXISTS", f"tool:lead:{key}")
            # Asked after the lead: a leader stores first and yields second, so no value is overlooked.
            if (data := await self.get(key)) is not None or not led:
                return data
        return None

    async def generation(self, owner: str) -> str:
        """A word that belongs into keys of an owner's own data; `forget` changes it. Raises RedisUnavailableError."""
        word = await self._store.command("GET", f"tool:generation:{owner}")
        return "" if word is None else word.decode()

    async def forget(self, owner: str) -> None:
        """Makes cached data of an owner unreachable, and what is still being computed. Raises RedisUnavailableError."""
        # Outlives whatever can be kept under the word before it.
        await self._store.command("SET", f"tool:generation:{owner}", secrets.token_hex(8), "PX", _GENERATION)

    async def yield_lead(self, key: str, token: str) -> None:
        """Ends the lead, if it is still held. Raises RedisUnavailableError."""
        self._renewals.drop(f"tool:lead:{key}")
        await self._store.run(_YIELD, f"tool:lead:{key}", token)
