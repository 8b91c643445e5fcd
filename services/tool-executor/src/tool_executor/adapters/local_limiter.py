"""Counts limits in this process only, while the shared store is unavailable."""

import time
from collections import deque
from collections.abc import Callable

from runtime.recent import Bounded
from tool_executor.domain.limits import LimitDecision, Limits, Quota
from tool_executor.domain.plans import VerifiedCaller

_MAX_KEYS = 20_000


class LocalRateLimiter:
    """ports.RateLimiter with the same sliding log in memory, for the most recent users. `clock`: seconds since the
    epoch."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._calls = Bounded[tuple[str, str, str], deque[tuple[float, str]]](_MAX_KEYS)

    async def admit(self, caller: VerifiedCaller, tool: str, limits: Limits, call_id: str) -> LimitDecision:
        key = (caller.company, caller.user, tool)
        calls = self._calls[key] = self._calls.get(key) or deque()
        now = self._clock()
        while calls and calls[0][0] <= now - max(window.seconds for window in limits):
            calls.popleft()
        decision = self._decision(calls, limits, now, call_id)
        if decision.blocking is not None or any(identity == call_id for _, identity in calls):
            return decision
        calls.append((now, call_id))
        return self._decision(calls, limits, now, call_id)

    async def remaining(self, caller: VerifiedCaller, tool: str, limits: Limits) -> LimitDecision:
        return self._decision(self._calls.get((caller.company, caller.user, tool), deque()), limits, self._clock(), "")

    @staticmethod
    def _decision(calls: deque[tuple[float, str]], limits: Limits, now: float, call_id: str) -> LimitDecision:
        quotas: list[Quota] = []
        blocking: Quota | None = None
        for window in limits:
            calls_in_window = [(time, identity) for time, identity in calls if time > now - window.seconds]
            oldest = calls_in_window[0][0] if calls_in_window else now
            reset_at = int((oldest + window.seconds) * 1000) + 1
            quota = Quota(window, remaining=max(window.limit - len(calls_in_window), 0), reset_at=reset_at)
            quotas.append(quota)
            is_repeat = any(identity == call_id for _, identity in calls_in_window)
            if quota.remaining == 0 and not is_repeat and (blocking is None or quota.reset_at > blocking.reset_at):
                blocking = quota
        return LimitDecision(tuple(quotas), blocking)
