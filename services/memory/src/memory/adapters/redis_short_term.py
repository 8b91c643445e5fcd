"""Short-term memories in Redis: one hash for each user, changed by one script, so that concurrent updates lose nothing.

Fields: `at` (ms of the last activity), `in` (when and in which conversation they last wrote), `s:<symbol>` (when it was
mentioned), `a:<id>` (when an action was added, and its JSON; without JSON it has been cleared). Every field has its own
time, so updates may come late, twice and in any order. The braces in a key keep it in one slot of a Redis cluster.
"""

import asyncio
from collections.abc import Awaitable
from typing import Any, cast

from pydantic import ValidationError
from redis.asyncio import Redis

from contracts.context_rpc import ShortTermMemory
from contracts.events.chat import Action
from memory.adapters.redis_errors import redis_errors
from memory.domain.keys import milliseconds, moment
from memory.domain.short_term import LIFETIME, MAX_ACTIONS, MAX_SYMBOLS, UserActivity, visible
from runtime.clock import Clock

PREFIX = "nexus:memory:short:"
CONNECTIONS = 8
"""Concurrent commands; further ones wait instead of opening connections."""
_KEPT_MS = int(LIFETIME.total_seconds() * 1000)
_RANKS = 100
"""Symbols mentioned at the same time keep their order: a symbol's rank is its time multiplied by this, minus its
place."""
_UPDATE = """
local key, at, conversation, left, kept = KEYS[1], ARGV[1], ARGV[2], tonumber(ARGV[3]), tonumber(ARGV[4])
local symbols, added, cleared, i = tonumber(ARGV[6]), tonumber(ARGV[7]), tonumber(ARGV[8]), 8
local last = tonumber(redis.call('HGET', key, 'at')) or 0
if left <= 0 or tonumber(at) + kept <= last then return 0 end
if last + kept <= tonumber(at) then redis.call('DEL', key) end
if tonumber(at) >= last then redis.call('HSET', key, 'at', at) end
local since = tonumber(string.match(redis.call('HGET', key, 'in') or '', '^%d+')) or 0
if conversation ~= '' and tonumber(at) >= since then redis.call('HSET', key, 'in', at .. ' ' .. conversation) end
for _ = 1, symbols do
  local name, rank = 's:' .. ARGV[i + 1], ARGV[i + 2]
  if tonumber(rank) > (tonumber(redis.call('HGET', key, name)) or 0) then redis.call('HSET', key, name, rank) end
  i = i + 2
end
for _ = 1, added do
  redis.call('HSETNX', key, 'a:' .. ARGV[i + 1], at .. ARGV[i + 2])
  i = i + 2
end
for _ = 1, cleared do
  redis.call('HSET', key, 'a:' .. ARGV[i + 1], at)
  i = i + 1
end
local held, named = redis.call('HGETALL', key), {}
for f = 1, #held, 2 do
  local kind = string.sub(held[f], 1, 2)
  if kind == 's:' then named[#named + 1] = {held[f], tonumber(held[f + 1])} end
  if kind == 'a:' and tonumber(string.match(held[f + 1], '^%d+')) + kept <= tonumber(at) then
    redis.call('HDEL', key, held[f])
  end
end
table.sort(named, function(a, b) return a[2] > b[2] end)
for n = tonumber(ARGV[5]) + 1, #named do redis.call('HDEL', key, named[n][1]) end
if redis.call('PTTL', key) < left then redis.call('PEXPIRE', key, left) end
return 1
"""


class RedisShortTerm:
    def __init__(self, redis: Redis, clock: Clock) -> None:
        self._redis = redis
        self._clock = clock
        self._update = redis.register_script(_UPDATE)
        self._slots = asyncio.Semaphore(CONNECTIONS)

    async def get(self, company: str, user: str) -> ShortTermMemory:
        """The part of a user's short-term memory that has not expired."""
        reply: Any = self._redis.hgetall(key_of(company, user))  # pyright: ignore[reportUnknownMemberType]
        fields = cast("dict[bytes, bytes]", await self._run(reply))
        return visible(_memory(fields), self._clock.now())

    async def update(self, company: str, user: str, activity: UserActivity) -> None:
        """Applies an update as a whole; concurrent updates lose nothing."""
        at_ms = milliseconds(activity.at)
        remaining_ms = _KEPT_MS - max(milliseconds(self._clock.now()) - at_ms, 0)
        symbols = list(activity.symbols)[:_RANKS]
        add, clear = list(activity.add), list(activity.clear)
        arguments: list[Any] = [at_ms, activity.conversation or "", remaining_ms, _KEPT_MS, MAX_SYMBOLS]
        arguments += [len(symbols), len(add), len(clear)]
        for rank, symbol in enumerate(symbols):
            arguments += [symbol, at_ms * _RANKS + _RANKS - 1 - rank]
        for action in add:
            arguments += [action.id, action.to_json()]
        arguments += clear
        await self._run(self._update(keys=[key_of(company, user)], args=arguments))

    async def clear(self, company: str, user: str) -> bool:
        """Deletes a user's short-term memory; returns whether there was one."""
        return bool(await self._run(self._redis.delete(key_of(company, user))))

    async def _run(self, command: Awaitable[Any]) -> Any:
        async with self._slots:
            with redis_errors("read or change a short-term memory"):
                return await command


def key_of(company: str, user: str) -> str:
    """The key of a user's short-term memory."""
    return f"{PREFIX}{{{company}:{user}}}"


def _memory(fields: dict[bytes, bytes]) -> ShortTermMemory:
    if b"at" not in fields:
        return ShortTermMemory()
    symbols: list[tuple[int, str]] = []
    actions: list[tuple[int, Action]] = []
    for name, value in fields.items():
        if name.startswith(b"s:"):
            symbols.append((int(value), name[2:].decode()))
        elif name.startswith(b"a:") and (json_start := value.find(b"{")) > 0:
            try:
                actions.append((int(value[:json_start]), Action.model_validate_json(value[json_start:])))
            except ValidationError:
                continue  # another version of this service wrote it
    symbols.sort(reverse=True)
    actions.sort(key=lambda entry: entry[0])
    conversation = fields.get(b"in")
    return ShortTermMemory(
        active_conversation=conversation.decode().split(" ", 1)[1] if conversation else None,
        recent_symbols=[name for _, name in symbols[:MAX_SYMBOLS]],
        last_activity=moment(int(fields[b"at"])),
        pending_actions=[action for _, action in actions[-MAX_ACTIONS:]],
    )
