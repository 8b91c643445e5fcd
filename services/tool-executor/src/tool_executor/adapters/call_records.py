"""Records in Redis which calls were started and how they ended: one hash for each call, changed only by scripts.

    f  fingerprint of tool and arguments        l  until when the owner may take (ms by Redis's clock)
    o  who is making the call                   r  the result; with it the call is done
    a  it was taken over from somebody who may have made it already

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


_KEEP_READS = 3_600_000
"""Milliseconds that the result of a call without side effects is kept: pages and bars are long, repeats come soon."""
_UNANSWERED = 1000
"""Claims without an answer whose owners are remembered."""


class RedisCallRecords:
    """Claims and results of calls in Redis. `keep`: seconds that a call with side effects is remembered."""

    def __init__(self, store: RedisStore, renewals: Renewals, keep: int) -> None:
        self._store = store
        self._renewals = renewals
        self._keep = keep * 1000
        self._unanswered = Bounded[str, str](_UNANSWERED)
        """Owners by key of claims that Redis may still carry out: what slept for a moment reads what was sent to it."""

    async def claim(self, key: CallKey, fingerprint: str, lease: float, *, renewed: bool) -> Claim:
        """Returns the record as it is, or makes a new one that is ours for `lease` seconds, in one atomic step.

        Args:
            renewed: the lease is a short one, kept alive as long as this process lives: its death is known within
                seconds, and a stall of seconds may be taken for it.
        """
        # The owner is this one attempt: when the first answer was lost, the client's own retry finds itself. So does
        # the caller's: without an answer nothing with side effects was done, and no lease of ours is to be waited out.
        name = _name(key)
        owner = self._unanswered.pop(name, None) or secrets.token_hex(8)
        milliseconds = int((min(LEASE, lease) if renewed else lease) * 1000)
        try:
            answer = texts(await self._store.run(_CLAIM, name, fingerprint, owner, milliseconds, self._keep))
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
                if renewed and lease > LEASE:
                    self._renewals.hold(_name(key), _RENEW, owner, milliseconds, longest=lease)
                return Claimed(owner, abandoned=word == b"abandoned")

    async def finish(self, key: CallKey, owner: str, result: ToolResult, *, lasting: bool) -> bool:
        """Records the result, if the call is still the owner's. `lasting`: for as long as there are records at all."""
        self._renewals.drop(_name(key))
        kept = self._keep if lasting else min(self._keep, _KEEP_READS)
        return bool(await self._store.run(_FINISH, _name(key), owner, result.to_json(), kept))

    async def release(self, key: CallKey, owner: str, *, forget: bool) -> None:
        """Lets go of a call that is still the owner's, so that its id can be tried again at once.

        Args:
            forget: False leaves the call as one that somebody started: it may have had its effect already.
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
