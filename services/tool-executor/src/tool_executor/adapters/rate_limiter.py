"""Limits in Redis: one sorted set for each user and tool, scored by Redis's clock, with one script that decides and
counts.

Only a sliding log never admits more than the limit in any window: fixed windows admit twice the limit at their edges,
and so does GCRA with a full burst. Members are call ids, so a repeated call counts once.
"""

from tool_executor.adapters.redis_store import RedisStore, Script, texts
from tool_executor.domain.limits import LimitDecision, Limits, Quota
from tool_executor.domain.plans import VerifiedCaller

_ADMIT = Script("""
local t = redis.call('TIME')
local now = t[1] * 1000000 + t[2]
local consume = ARGV[1] == '1'
local member = ARGV[2]
local longest = 0
for i = 3, #ARGV, 2 do longest = math.max(longest, ARGV[i] * 1000000) end
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', string.format('%.0f', now - longest))
local mine = tonumber(redis.call('ZSCORE', KEYS[1], member) or '-1')
local admitted = 1
local counts, oldest = {}, {}
for i = 3, #ARGV, 2 do
  local width = ARGV[i] * 1000000
  local from = '(' .. string.format('%.0f', now - width)
  local count = redis.call('ZCOUNT', KEYS[1], from, '+inf')
  local first = redis.call('ZRANGEBYSCORE', KEYS[1], from, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
  counts[i] = count
  oldest[i] = tonumber(first[2] or now)
  if mine <= now - width and count >= tonumber(ARGV[i + 1]) then admitted = 0 end
end
local added = 0
if consume and admitted == 1 and mine < 0 then
  redis.call('ZADD', KEYS[1], string.format('%.0f', now), member)
  redis.call('PEXPIRE', KEYS[1], longest / 1000 + 1000)
  added = 1
end
local answer = {admitted}
for i = 3, #ARGV, 2 do
  answer[#answer + 1] = ARGV[i + 1] - counts[i] - added
  answer[#answer + 1] = string.format('%.0f', math.ceil((oldest[i] + ARGV[i] * 1000000) / 1000))
end
return answer
""")


class RedisRateLimiter:
    def __init__(self, store: RedisStore) -> None:
        self._store = store

    async def admit(self, caller: VerifiedCaller, tool: str, limits: Limits, call_id: str) -> LimitDecision:
        return await self._decide(caller, tool, limits, consume=1, member=call_id)

    async def remaining(self, caller: VerifiedCaller, tool: str, limits: Limits) -> LimitDecision:
        return await self._decide(caller, tool, limits, consume=0, member="-")

    async def _decide(
        self, caller: VerifiedCaller, tool: str, limits: Limits, *, consume: int, member: str
    ) -> LimitDecision:
        key = f"tool:limit:{caller.company}:{caller.user}:{tool}"
        pairs = [number for window in limits for number in (window.seconds, window.limit)]
        answer = [int(part) for part in texts(await self._store.run(_ADMIT, key, consume, member, *pairs))]
        quotas = tuple(
            Quota(window, remaining=max(answer[1 + 2 * position], 0), reset_at=answer[2 + 2 * position])
            for position, window in enumerate(limits)
        )
        if answer[0] == 1:
            return LimitDecision(quotas)
        spent = [quota for position, quota in enumerate(quotas) if answer[1 + 2 * position] <= 0]
        return LimitDecision(quotas, blocking=max(spent, key=lambda quota: quota.reset_at))
