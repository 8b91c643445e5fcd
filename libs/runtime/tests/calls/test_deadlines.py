"""What is left of a request's deadline, whatever the clocks of the two machines say."""

from __future__ import annotations

from contextvars import copy_context

import pytest

from runtime.calls.deadlines import (
    HEADER,
    MAX_DRIFT,
    MAX_ORIGINS,
    PART_SHARE,
    Arrivals,
    part_deadline,
    serve_for,
    time_left,
)


class Clocks:
    """A server's clock, and that of a caller who is `ahead` of it."""

    def __init__(self, ahead: float) -> None:
        self.now = 1000.0
        self.ahead = ahead
        self.arrivals = Arrivals(lambda: self.now)

    def left(self, seconds: float, *, waited: float = 0.0, origin: str = "agent") -> float | None:
        """What is left for a request that is read `waited` seconds after it was sent."""
        sent = int((self.now + self.ahead - waited) * 1000)
        return self.arrivals.left({HEADER: f"{int(seconds * 1000)} {origin} {sent}"})


@pytest.mark.parametrize("ahead", [0.0, 5000.0, -999.0])
def test_the_time_that_a_request_lay_unread_counts_whatever_the_clocks_say(ahead: float) -> None:
    clocks = Clocks(ahead)
    assert clocks.left(2.0) == pytest.approx(2.0)
    assert clocks.left(2.0, waited=0.5) == pytest.approx(1.5)
    late = clocks.left(2.0, waited=45.0)
    assert late is not None
    assert late < 0


def test_a_caller_that_was_never_heard_is_not_taken_for_gone() -> None:
    clocks = Clocks(-500.0)
    assert clocks.left(2.0, waited=45.0) == pytest.approx(2.0)
    assert clocks.left(2.0) == pytest.approx(2.0)
    assert clocks.left(50.0, waited=45.0) == pytest.approx(5.0)


def test_clocks_that_part_slowly_are_followed_and_a_queue_of_minutes_is_still_seen() -> None:
    clocks = Clocks(0.0)
    assert clocks.left(2.0) == pytest.approx(2.0)
    clocks.now += 3600
    clocks.ahead -= 3600 * MAX_DRIFT / 2
    assert clocks.left(2.0) == pytest.approx(2.0)
    for _ in range(20):
        clocks.now += 6
        left = clocks.left(2.0, waited=10.0)
        assert left is not None
        assert left < 0


def test_no_more_callers_are_remembered_than_fit() -> None:
    clocks = Clocks(0.0)
    clocks.left(2.0)
    for number in range(MAX_ORIGINS):
        clocks.left(2.0, origin=str(number))
    assert clocks.left(2.0, waited=45.0) == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("header", "left"), [("1500", 1.5), ("1500 x", 1.5), ("soon", None), ("", None), ("1 a b", None)]
)
def test_a_header_that_says_less_says_what_it_can(header: str, left: float | None) -> None:
    assert Arrivals().left({HEADER: header}) == left
    assert Arrivals().left({}) is None


def test_a_part_takes_its_share_of_what_is_left_and_never_more_than_it_needs() -> None:
    def served() -> None:
        serve_for(2.0)
        assert part_deadline(0.1) == 0.1
        assert part_deadline(3.0) == pytest.approx(2.0 * PART_SHARE, rel=0.1)
        serve_for(0.0)
        assert (time_left(), part_deadline(3.0)) == (0.0, 0.0)

    # In a context of its own, as every request has its task.
    copy_context().run(served)
    assert (time_left(), part_deadline(3.0)) == (None, 3.0)
