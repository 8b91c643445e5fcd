"""The sample clock by itself: where it starts, how it moves, where it ends."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from market_adapter.adapters.sample_files import SampleData, load_sample
from market_adapter.domain.sample_clock import SampleClock

SAMPLE: SampleData = load_sample()


def test_it_starts_120_bars_before_the_end() -> None:
    clock = SampleClock(SAMPLE.sessions, SAMPLE.closes)
    assert clock.session == SAMPLE.sessions[-121] == date(2012, 9, 5)
    assert clock.now == SAMPLE.closes[-121]
    assert clock.next_session == SAMPLE.sessions[-120]


def test_a_frozen_one_stands_on_the_last_bar() -> None:
    clock = SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True)
    assert clock.session == date(2013, 3, 1)
    assert clock.ended
    assert clock.next_session == clock.session


@given(st.lists(st.integers(-400, 400), max_size=30))
def test_it_only_moves_on_and_never_past_the_day_it_is_given(offsets: list[int]) -> None:
    clock = SampleClock(SAMPLE.sessions, SAMPLE.closes)
    for offset in offsets:
        before, day = clock.session, SAMPLE.sessions[-121] + timedelta(days=offset)
        moved = clock.move_to(day)
        assert clock.session >= before
        assert moved == (clock.session > before)
        assert not moved or clock.session <= day


def test_it_needs_a_session() -> None:
    with pytest.raises(ValueError, match="at least one session"):
        SampleClock((), ())
