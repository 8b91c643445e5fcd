"""Budgets in Redis. Each account is a hash {used, held} and a set of reservations, ordered by expiry.

Each step is one script, so that calls of many agents are decided one after another. Expired reservations are released
by the next reservation on the same account; an unused account expires as a whole.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from typing import Any, Literal, cast

from redis.asyncio import Redis

from contracts.memory_rpc import FurtherCall
from memory.adapters.redis_errors import redis_errors
from memory.domain.spending_limits import BudgetAccount, Payer, Settlement

SETTLED_TTL_SECONDS = 86_400
"""How long a settled call is remembered: its usage fact, which settles it too, may arrive after an outage of hours."""
CONNECTIONS = 16
"""Concurrent scripts. Redis runs them one after another anyway, and would refuse hundreds of connections."""
_RESERVE = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local member = ARGV[1] .. ':' .. ARGV[2]
local further = ARGV[4] .. ':' .. ARGV[5]
local both = ARGV[4] ~= ''
if redis.call('ZSCORE', KEYS[2], member) then
  return (both and redis.call('ZSCORE', KEYS[2], further)) and -1 or 0
end
for i = 1, #KEYS, 2 do
  local freed = 0
  for _, gone in ipairs(redis.call('ZRANGEBYSCORE', KEYS[i + 1], '-inf', now)) do
    freed = freed + tonumber(string.match(gone, ':(%d+)$'))
  end
  if freed > 0 then
    redis.call('HINCRBY', KEYS[i], 'held', -freed)
    redis.call('ZREMRANGEBYSCORE', KEYS[i + 1], '-inf', now)
  end
  local limit = tonumber(ARGV[4 + i + 1])
  if limit >= 0 then
    local account = redis.call('HMGET', KEYS[i], 'used', 'held')
    local taken = (tonumber(account[1]) or 0) + (tonumber(account[2]) or 0)
    if taken >= limit then return (i + 1) / 2 end
    both = both and taken + ARGV[2] + ARGV[5] <= limit / 2
  end
end
for i = 1, #KEYS, 2 do
  redis.call('HINCRBY', KEYS[i], 'held', ARGV[2])
  redis.call('ZADD', KEYS[i + 1], now + ARGV[3], member)
  if both then
    redis.call('HINCRBY', KEYS[i], 'held', ARGV[5])
    redis.call('ZADD', KEYS[i + 1], now + 2 * ARGV[3], further)
  end
  redis.call('EXPIRE', KEYS[i], ARGV[4 + i + 2])
  redis.call('EXPIRE', KEYS[i + 1], ARGV[4 + i + 2])
end
return both and -1 or 0
"""
_SETTLE = """
local key, arg, settled = 1, 2, 0
while arg <= #ARGV do
  local call, reserved, used, accounts = ARGV[arg], ARGV[arg + 1], ARGV[arg + 2], tonumber(ARGV[arg + 3])
  if redis.call('SET', KEYS[key], 1, 'NX', 'EX', ARGV[1]) then
    settled = settled + 1
    for i = 1, accounts do
      local account, held = KEYS[key + 2 * i - 1], KEYS[key + 2 * i]
      if redis.call('ZREM', held, call .. ':' .. reserved) == 1 then
        redis.call('HINCRBY', account, 'held', -reserved)
      end
      redis.call('HINCRBY', account, 'used', used)
      redis.call('EXPIRE', account, ARGV[arg + 3 + i])
    end
  end
  key, arg = key + 1 + 2 * accounts, arg + 4 + accounts
end
return settled
"""
"""Settles calls, all of one company: keys for each are its own and two for each account, arguments the call, what was
reserved and used, the number of accounts, and how long each is kept. Returns how many were not settled before."""
MAX_SETTLED_AT_ONCE = 100
"""Calls that one script settles; Redis does nothing else meanwhile."""


class RedisBudgets:
    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._reserve = redis.register_script(_RESERVE)
        self._settle = redis.register_script(_SETTLE)
        self._slots = asyncio.Semaphore(CONNECTIONS)

    async def reserve(
        self, call: str, tokens: int, seconds: float, accounts: list[BudgetAccount], further: FurtherCall | None = None
    ) -> Payer | Literal["both"] | None:
        """Reserves tokens; returns whose limit is reached (None: reserved; "both": reserved with the further call,
        whose reservation lasts twice as long, since it comes after the first). Raises RedisUnavailableError."""
        further_arguments = ("", 0) if further is None else (further.reservation_id, further.tokens)
        arguments: list[Any] = [call, tokens, int(seconds * 1000), *further_arguments]
        for account in accounts:
            arguments += [-1 if account.limit is None else account.limit, account.keep]
        answer = await self._run(self._reserve(keys=_keys(accounts), args=arguments))
        if answer > 0:
            return accounts[answer - 1].payer
        return "both" if answer < 0 else None

    async def settle(self, settlement: Settlement) -> bool:
        """Settles a call; returns False if it was settled before. Raises RedisUnavailableError."""
        keys, arguments = _settle_arguments([settlement])
        return await self._run(self._settle(keys=keys, args=arguments)) == 1

    async def settle_all(self, settlements: Sequence[Settlement]) -> None:
        """Settles calls in one write, each independently. Raises RedisUnavailableError."""
        by_company: dict[str, list[Settlement]] = {}
        for settlement in settlements:
            by_company.setdefault(settlement.company, []).append(settlement)
        async with self._slots, self._redis.pipeline(transaction=False) as pipe:
            with redis_errors("settle budgets"):
                for company_settlements in by_company.values():
                    for start in range(0, len(company_settlements), MAX_SETTLED_AT_ONCE):
                        keys, arguments = _settle_arguments(company_settlements[start : start + MAX_SETTLED_AT_ONCE])
                        # Sent as text: a pipeline to a cluster cannot ensure that each server has the script loaded.
                        pipe.eval(_SETTLE, len(keys), *keys, *arguments)
                await pipe.execute()

    async def _run(self, script: Awaitable[Any]) -> int:
        async with self._slots:
            with redis_errors("reserve or settle a budget"):
                return int(cast("int", await script))


def _settle_arguments(settlements: Sequence[Settlement]) -> tuple[list[str], list[Any]]:
    keys: list[str] = []
    arguments: list[Any] = [SETTLED_TTL_SECONDS]
    for settlement in settlements:
        accounts = settlement.accounts
        keys += [f"nexus:budget:{{{settlement.company}}}:settled:{settlement.call}", *_keys(accounts)]
        arguments += [settlement.call, settlement.reserved, settlement.used, len(accounts)]
        arguments += [account.keep for account in accounts]
    return keys, arguments


def _keys(accounts: list[BudgetAccount]) -> list[str]:
    return [key for account in accounts for key in (account.name, f"{account.name}:held")]
