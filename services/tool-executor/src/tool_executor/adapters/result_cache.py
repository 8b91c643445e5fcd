"""Caches results in Redis, and decides which process (the leader) computes a value that many miss at the same time."""

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
_GENERATION_MS = 3_600_000
_FIRST_PAUSE_SECONDS = 0.005
"""Seconds before a follower first looks for its leader's value; each further pause is longer."""
_MAX_PAUSE_SECONDS = 0.1
"""Longest pause in seconds between two looks of a follower."""


class RedisResultCache:
    def __init__(self, store: RedisStore, renewals: Renewals) -> None:
        self._store = store
        self._renewals = renewals

    async def get(self, key: str) -> Data | None:
        """Returns the cached data; None if there is none. Raises RedisUnavailableError."""
        cached = await self._store.command("GET", f"tool:cache:{key}")
        return None if cached is None else orjson.loads(cached)

    async def put(self, key: str, data: Data, seconds: float) -> None:
        """Stores the data. Raises RedisUnavailableError."""
        # A random part is subtracted, so that results stored together do not expire together.
        milliseconds = max(int(seconds * 1000 * (1 - random.random() * _JITTER)), 1)
        await self._store.command("SET", f"tool:cache:{key}", orjson.dumps(data), "PX", milliseconds)

    async def lead(self, key: str, seconds: float) -> str | None:
        """Returns a token if the caller shall compute the value; None if another process does. Raises
        RedisUnavailableError."""
        name, token = f"tool:lead:{key}", secrets.token_hex(8)
        milliseconds = max(int(min(seconds, LEASE) * 1000), 1)
        if not await self._store.command("SET", name, token, "NX", "PX", milliseconds):
            return None
        if seconds > LEASE:
            self._renewals.hold(name, _RENEW, token, milliseconds, max_seconds=seconds)
        return token

    async def follow(self, key: str, seconds: float) -> Data | None:
        """Waits at most `seconds` for the leader's value; None if there is none. Raises RedisUnavailableError."""
        pause = _FIRST_PAUSE_SECONDS
        deadline = asyncio.get_running_loop().time() + seconds
        while asyncio.get_running_loop().time() < deadline:
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, _MAX_PAUSE_SECONDS)
            has_leader = await self._store.command("EXISTS", f"tool:lead:{key}")
            # Read after the check for a leader: a leader stores first and yields then, so no value is missed.
            if (data := await self.get(key)) is not None or not has_leader:
                return data
        return None

    async def generation(self, owner: str) -> str:
        """Returns the word in the keys of an owner's data, which `forget` changes. Raises RedisUnavailableError."""
        word = await self._store.command("GET", f"tool:generation:{owner}")
        return "" if word is None else word.decode()

    async def forget(self, owner: str) -> None:
        """Makes an owner's cached data unreachable, including results that are still being computed. Raises
        RedisUnavailableError."""
        # The new word outlives all results stored under the previous one.
        await self._store.command("SET", f"tool:generation:{owner}", secrets.token_hex(8), "PX", _GENERATION_MS)

    async def yield_lead(self, key: str, token: str) -> None:
        """Ends the lead, if it is still held. Raises RedisUnavailableError."""
        self._renewals.drop(f"tool:lead:{key}")
        await self._store.run(_YIELD, f"tool:lead:{key}", token)
