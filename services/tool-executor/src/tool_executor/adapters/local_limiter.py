"""Counts limits in this process alone while the shared store is unavailable."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable

from tool_executor.domain.limits import LimitDecision, Limits, Quota
from tool_executor.domain.plans import VerifiedCaller

_MOST_KEYS = 20_000


class LocalRateLimiter:
    """See ports.RateLimiter: the same sliding log, in memory, for the users seen most recently. `clock`: seconds
    since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._calls: OrderedDict[tuple[str, str, str], deque[tuple[float, str]]] = OrderedDict()

    async def admit(self, caller: VerifiedCaller, tool: str, limits: Limits, call_id: str) -> LimitDecision:
        key = (caller.company, caller.user, tool)
        calls = self._calls.setdefault(key, deque())
        self._calls.move_to_end(key)
        if len(self._calls) > _MOST_KEYS:
            self._calls.popitem(last=False)
        now = self._clock()
        while calls and calls[0][0] <= now - max(window.seconds for window in limits):
            calls.popleft()
        admission = self._look(calls, limits, now, call_id)
        if admission.blocking is not None or any(identity == call_id for _, identity in calls):
            return admission
        calls.append((now, call_id))
        return self._look(calls, limits, now, call_id)

    async def remaining(self, caller: VerifiedCaller, tool: str, limits: Limits) -> LimitDecision:
        return self._look(self._calls.get((caller.company, caller.user, tool), deque()), limits, self._clock(), "")

    @staticmethod
    def _look(calls: deque[tuple[float, str]], limits: Limits, now: float, call_id: str) -> LimitDecision:
        quotas: list[Quota] = []
        blocking: Quota | None = None
        for window in limits:
            inside = [(at, identity) for at, identity in calls if at > now - window.seconds]
            oldest = inside[0][0] if inside else now
            reset_at = int((oldest + window.seconds) * 1000) + 1
            quota = Quota(window, remaining=max(window.limit - len(inside), 0), reset_at=reset_at)
            quotas.append(quota)
            known = any(identity == call_id for _, identity in inside)
            if quota.remaining == 0 and not known and (blocking is None or quota.reset_at > blocking.reset_at):
                blocking = quota
        return LimitDecision(tuple(quotas), blocking)
