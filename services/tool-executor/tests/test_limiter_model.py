"""Both limiters against a model that is nothing but a list, through any order of calls, repeats and time passing."""

import asyncio
import math
from typing import Any, cast

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from redis import Redis

from runtime.testing.servers import ValkeyServer
from tool_executor.adapters.local_limiter import LocalRateLimiter
from tool_executor.adapters.rate_limiter import RedisRateLimiter
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.domain.limits import LimitDecision, limits_of
from tool_executor.domain.plans import VerifiedCaller
from tool_executor.ports import RateLimiter

ANA = VerifiedCaller("demo", "ana", "user")
LIMITS = limits_of(3, 5, 7)
KEY = "tool:limit:demo:ana:t"
MICRO = 1_000_000
CALLS = st.integers(0, 9).map(str)
PASSING = st.sampled_from([0, 0, 20, 59, 61, 61, 3601, 86_401])


class Model:
    """Calls that were let through, by id, with their times in seconds."""

    def __init__(self) -> None:
        self.calls: dict[str, float] = {}

    def inside(self, seconds: int, now: float) -> list[float]:
        return sorted(at for at in self.calls.values() if at > now - seconds)

    def lets_through(self, call: str, now: float) -> bool:
        mine = self.calls.get(call, -math.inf)
        return all(
            len(self.inside(window.seconds, now)) < window.limit or mine > now - window.seconds for window in LIMITS
        )

    def forget(self, now: float) -> None:
        self.calls = {call: at for call, at in self.calls.items() if at > now - LIMITS[-1].seconds}


class Machine(RuleBasedStateMachine):
    """What is common: `now` gives the limiter's time, `passes` moves it, `time_of` tells when a call was counted."""

    limiter: RateLimiter

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.model = Model()

    def now(self) -> float:
        raise NotImplementedError

    def passes(self, seconds: float) -> None:
        raise NotImplementedError

    def time_of(self, call: str, now: float) -> float:
        raise NotImplementedError

    @rule(seconds=PASSING, calls=st.lists(CALLS, min_size=1, max_size=6))
    def after_a_while_calls_ask(self, seconds: int, calls: list[str]) -> None:
        if seconds:
            self.passes(seconds)
        for call in calls:
            self.a_call_asks(call)

    def a_call_asks(self, call: str) -> None:
        before = self.now()
        admission = self.runner.run(self.limiter.admit(ANA, "t", LIMITS, call))
        after = self.now()
        let_through = admission.blocking is None
        self.model.forget(before)
        # Real time goes on while Redis is asked: at the very edge of a window either answer is right.
        assert let_through in {self.model.lets_through(call, before), self.model.lets_through(call, after)}
        if let_through and call not in self.model.calls:
            self.model.calls[call] = self.time_of(call, before)
        if admission.blocking is not None:
            assert admission.blocking.remaining == 0
            assert admission.blocking.reset_at / 1000 >= before
        self.tells_what_is_left(admission, before, after)

    @rule()
    def somebody_looks(self) -> None:
        before = self.now()
        self.tells_what_is_left(self.runner.run(self.limiter.remaining(ANA, "t", LIMITS)), before, self.now())

    @invariant()
    def no_window_ever_holds_more_than_its_limit(self) -> None:
        times = sorted(self.model.calls.values())
        for window in LIMITS:
            for at in times:
                assert sum(at - window.seconds < other <= at for other in times) <= window.limit

    def tells_what_is_left(self, admission: LimitDecision, before: float, after: float) -> None:
        for quota in admission.quotas:
            window = quota.window
            left = {max(window.limit - len(self.model.inside(window.seconds, now)), 0) for now in (before, after)}
            assert quota.remaining in left
            resets = [(self.model.inside(window.seconds, now) or [now])[0] + window.seconds for now in (before, after)]
            assert min(resets) - 0.01 <= quota.reset_at / 1000 <= max(resets) + 0.01

    def teardown(self) -> None:
        self.runner.close()


class RedisMachine(Machine):
    """Time passes by moving what was counted into the past: Redis's own clock cannot be set."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.redis: Any = Redis.from_url(url)  # pyright: ignore[reportUnknownMemberType]
        self.redis.delete(KEY)
        self.store = RedisStore(url, 5.0)
        self.limiter = RedisRateLimiter(self.store)

    def now(self) -> float:
        seconds, micro = self.redis.time()
        return seconds + micro / MICRO

    def passes(self, seconds: float) -> None:
        for member, score in self.redis.zrange(KEY, 0, -1, withscores=True):
            self.redis.zadd(KEY, {member: score - seconds * MICRO})
        self.model.calls = {call: at - seconds for call, at in self.model.calls.items()}

    def time_of(self, call: str, now: float) -> float:
        return self.redis.zscore(KEY, call) / MICRO

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.redis.close()
        super().teardown()


class LocalMachine(Machine):
    """Time stands still but for what passes."""

    def __init__(self) -> None:
        super().__init__()
        self.time = 1_000_000.0
        self.limiter = LocalRateLimiter(self.now)

    def now(self) -> float:
        return self.time

    def passes(self, seconds: float) -> None:
        self.time += seconds

    def time_of(self, call: str, now: float) -> float:
        return now


@pytest.mark.parametrize("kind", ["redis", "local"])
def test_a_limiter_is_a_list_of_calls_and_nothing_more(valkey_server: ValkeyServer, kind: str):
    run_state_machine_as_test(  # pyright: ignore[reportUnknownMemberType]
        cast("type[Machine]", lambda: RedisMachine(valkey_server.url) if kind == "redis" else LocalMachine()),
        settings=settings(max_examples=50, stateful_step_count=25, deadline=None),
    )
