import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.domain.limits import RateLimit, SlidingLog, address_key, admit
from gateway.errors import RateLimitedError


@given(st.lists(st.floats(0, 5, allow_nan=False), max_size=60))
def test_no_window_ever_holds_more_than_the_limit(steps: list[float]) -> None:
    log = SlidingLog(RateLimit(5, 10.0))
    now = 0.0
    admitted: list[float] = []
    for step in steps:
        now += step
        if admit(now, (log, "k")) == 0:
            admitted.append(now)
    for start in admitted:
        assert sum(1 for at in admitted if start <= at < start + 10.0) <= 5


def test_the_wait_that_is_named_is_exactly_enough() -> None:
    log = SlidingLog(RateLimit(2, 60.0))
    assert admit(0.0, (log, "k")) == 0
    assert admit(10.0, (log, "k")) == 0
    wait = admit(15.0, (log, "k"))
    assert wait == pytest.approx(45.0)
    assert admit(15.0 + wait - 0.001, (log, "k")) > 0
    assert admit(15.0 + wait, (log, "k")) == 0


def test_a_refused_event_consumes_nothing_in_any_window() -> None:
    tight, wide = SlidingLog(RateLimit(1, 60.0)), SlidingLog(RateLimit(3, 60.0))
    assert admit(0.0, (tight, "a"), (wide, "x")) == 0
    for _ in range(5):
        assert admit(1.0, (tight, "a"), (wide, "x")) > 0
    assert admit(1.0, (tight, "b"), (wide, "x")) == 0
    assert admit(1.0, (tight, "c"), (wide, "x")) == 0
    assert admit(1.0, (tight, "d"), (wide, "x")) > 0


def test_keys_do_not_share_room() -> None:
    log = SlidingLog(RateLimit(1, 60.0))
    assert admit(0.0, (log, "a")) == 0
    assert admit(0.0, (log, "b")) == 0


def test_who_has_gone_is_not_remembered() -> None:
    log = SlidingLog(RateLimit(20, 60.0))
    for visitor in range(1_000):
        assert admit(visitor, (log, f"visitor {visitor}")) == 0
        log.retry_after("visitor 0", visitor)
    assert len(log) == 60


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.1", "192.0.2.2", False),
        ("::ffff:192.0.2.1", "192.0.2.1", True),
        ("2001:db8::1", "2001:db8::ffff:1", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("not an address", "not an address", True),
    ],
)
def test_an_ipv6_subscriber_counts_as_one_address(one: str, other: str, same: bool) -> None:
    assert (address_key(one) == address_key(other)) is same


def test_whoever_has_to_wait_is_told_whole_seconds() -> None:
    assert RateLimitedError("full", 59.27).wait == 60
