"""Records in Redis which calls were started and how they ended: one hash for each call, changed only by scripts.

    f  fingerprint of tool and arguments        l  until when the owner may take (ms by Redis's clock)
    o  the executor's attempt that runs it      r  the result; with it the call is done
    a  it was taken over from an executor that may have run it already

A record changes from started to done by compare-and-set on the owner: an executor that took longer than its lease and
lost the call to another one cannot overwrite the other's result.
"""

import secrets

from contracts.events.tool import ToolResult
from runtime.recent import Bounded
from runtime.workers.pull_worker import LEASE
from tool_executor.adapters.redis_store import RedisStore, Script, texts
from tool_executor.adapters.renewals import Renewals
from tool_executor.ports import (
    CallKey,
    Claim,
    Claimed,
    OtherArguments,
    RecordedResult,
    RedisUnavailableError,
    RunningElsewhere,
)

_CLAIM = Script("""
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
local known = redis.call('HMGET', KEYS[1], 'f', 'o', 'l', 'r', 'a')
local answer = 'claimed'
if known[1] then
  if known[1] ~= ARGV[1] then return {'other'} end
  if known[4] then return {'done', known[4]} end
  if known[2] ~= ARGV[2] then
    local left = (tonumber(known[3]) or 0) - now
    if left > 0 then return {'running', left} end
    answer = 'abandoned'
  end
  if known[5] then answer = 'abandoned' end
end
redis.call('HSET', KEYS[1], 'f', ARGV[1], 'o', ARGV[2], 'l', now + ARGV[3])
if answer == 'abandoned' then redis.call('HSET', KEYS[1], 'a', 1) end
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return {answer}
""")
_FINISH = Script("""
local known = redis.call('HMGET', KEYS[1], 'o', 'r')
if known[1] ~= ARGV[1] then return 0 end
if not known[2] then
  redis.call('HSET', KEYS[1], 'r', ARGV[2])
  redis.call('PEXPIRE', KEYS[1], ARGV[3])
end
return 1
""")
_RELEASE = Script("""
local known = redis.call('HMGET', KEYS[1], 'o', 'r')
if known[1] ~= ARGV[1] or known[2] then return 0 end
if ARGV[2] == '1' then return redis.call('DEL', KEYS[1]) end
return redis.call('HSET', KEYS[1], 'l', 0)
""")


_RENEW = Script("""
local known = redis.call('HMGET', KEYS[1], 'o', 'r')
if known[1] ~= ARGV[1] or known[2] then return 0 end
local t = redis.call('TIME')
redis.call('HSET', KEYS[1], 'l', t[1] * 1000 + math.floor(t[2] / 1000) + ARGV[2])
return 1
""")


_KEEP_READS_MS = 3_600_000
"""Milliseconds for which the result of a call without side effects is kept: results are long, and repeats come soon."""
_MAX_UNANSWERED = 1000
"""Claims without an answer whose owners are remembered."""


class RedisCallRecords:
    """Claims and results of calls in Redis. `keep`: seconds that a call with side effects is remembered."""

    def __init__(self, store: RedisStore, renewals: Renewals, keep_seconds: int) -> None:
        self._store = store
        self._renewals = renewals
        self._keep_ms = keep_seconds * 1000
        self._unanswered = Bounded[str, str](_MAX_UNANSWERED)
        """Owners, by key, of claims without an answer; a Redis that paused for a moment may still execute them."""

    async def claim(self, key: CallKey, fingerprint: str, lease: float, *, is_renewed: bool) -> Claim:
        """Returns the existing record, or claims the call for `lease` seconds, in one atomic step.

        Args:
            is_renewed: the lease is short and renewed as long as this process lives: its death is noticed within
                seconds, and a pause of seconds may be taken for its death.
        """
        # The owner stands for this attempt: if the answer is lost, the retry of the client or caller finds its own
        # claim. Without an answer nothing with side effects was done, so no lease has to run out first.
        name = _name(key)
        owner = self._unanswered.pop(name, None) or secrets.token_hex(8)
        milliseconds = int((min(LEASE, lease) if is_renewed else lease) * 1000)
        try:
            answer = texts(await self._store.run(_CLAIM, name, fingerprint, owner, milliseconds, self._keep_ms))
        except RedisUnavailableError:
            self._unanswered[name] = owner
            raise
        match answer[0]:
            case b"done":
                return RecordedResult(ToolResult.model_validate_json(answer[1]))
            case b"other":
                return OtherArguments()
            case b"running":
                return RunningElsewhere(int(answer[1]) / 1000)
            case word:
                if is_renewed and lease > LEASE:
                    self._renewals.hold(_name(key), _RENEW, owner, milliseconds, max_seconds=lease)
                return Claimed(owner, abandoned=word == b"abandoned")

    async def finish(self, key: CallKey, owner: str, result: ToolResult, *, is_lasting: bool) -> bool:
        """Records the result if the call still belongs to the owner. `is_lasting`: for the longest time."""
        self._renewals.drop(_name(key))
        milliseconds = self._keep_ms if is_lasting else min(self._keep_ms, _KEEP_READS_MS)
        return bool(await self._store.run(_FINISH, _name(key), owner, result.to_json(), milliseconds))

    async def release(self, key: CallKey, owner: str, *, forget: bool) -> None:
        """Releases a call that still belongs to the owner, so that its id can be tried again at once.

        Args:
            forget: False leaves the call marked as started, because it may have had its effect already.
        """
        self._renewals.drop(_name(key))
        try:
            await self._store.run(_RELEASE, _name(key), owner, 1 if forget else 0)
        except RedisUnavailableError:
            if forget:
                self._unanswered[_name(key)] = owner
            raise


def _name(key: CallKey) -> str:
    return f"tool:call:{key.company}:{key.user}:{key.call}"
