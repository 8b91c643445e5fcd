"""Split adjustment: what must hold for any bars and any splits."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from market_adapter.domain.bars import Bar, Split
from market_adapter.domain.splits import adjustment, split_adjusted

FIRST = date(2000, 3, 1)
RATIOS = st.sampled_from([Fraction(2), Fraction(3), Fraction(7), Fraction(3, 2), Fraction(5, 4), Fraction(1, 10)])


def bar(day: int, low: Decimal, spread: Decimal, volume: int) -> Bar:
    start = datetime(2000, 3, 1, 14, 30, tzinfo=UTC) + timedelta(days=day)
    end = start + timedelta(hours=6, minutes=30)
    session = FIRST + timedelta(days=day)
    return Bar(session, start, end, low + spread / 2, low + spread, low, low + spread / 4, volume)


@st.composite
def histories(draw: st.DrawFn) -> tuple[tuple[Bar, ...], tuple[Split, ...]]:
    count = draw(st.integers(1, 40))
    prices = st.decimals(Decimal("0.01"), Decimal(5000), places=4)
    bars = tuple(bar(day, draw(prices), draw(prices), draw(st.integers(0, 10**9))) for day in range(count))
    days = draw(st.lists(st.integers(0, 45), max_size=4, unique=True))
    return bars, tuple(Split(FIRST + timedelta(days=day), draw(RATIOS)) for day in days)


@given(histories())
def test_the_last_bar_is_never_changed(history: tuple[tuple[Bar, ...], tuple[Split, ...]]) -> None:
    bars, splits = history
    assert split_adjusted(bars, splits)[-1] == bars[-1]


@given(histories())
def test_without_a_split_nothing_changes(history: tuple[tuple[Bar, ...], tuple[Split, ...]]) -> None:
    bars, _ = history
    assert split_adjusted(bars, ()) == bars


@given(histories())
def test_a_split_after_the_last_bar_is_not_looked_ahead_to(
    history: tuple[tuple[Bar, ...], tuple[Split, ...]],
) -> None:
    bars, splits = history
    known = tuple(split for split in splits if split.on <= bars[-1].session)
    assert split_adjusted(bars, splits) == split_adjusted(bars, known)


@given(histories())
def test_each_bar_is_scaled_by_the_ratios_of_the_splits_behind_it(
    history: tuple[tuple[Bar, ...], tuple[Split, ...]],
) -> None:
    bars, splits = history
    for before, after in zip(bars, split_adjusted(bars, splits), strict=True):
        factor = adjustment(splits, before.session, bars[-1].session)
        for name in ("open", "high", "low", "close"):
            raw, scaled = Fraction(getattr(before, name)), Fraction(getattr(after, name))
            assert abs(scaled * factor - raw) <= raw / 10**26
        assert abs(Fraction(after.volume) - Fraction(before.volume) * factor) <= Fraction(1, 2)


@given(histories())
def test_a_bar_keeps_its_shape_and_its_time(history: tuple[tuple[Bar, ...], tuple[Split, ...]]) -> None:
    bars, splits = history
    for before, after in zip(bars, split_adjusted(bars, splits), strict=True):
        assert after.low <= min(after.open, after.close) <= max(after.open, after.close) <= after.high
        assert (after.session, after.time, after.end) == (before.session, before.time, before.end)


@given(histories(), st.data())
def test_a_window_of_the_adjusted_is_the_adjusted_window_when_it_ends_with_the_last_bar(
    history: tuple[tuple[Bar, ...], tuple[Split, ...]], data: st.DataObject
) -> None:
    bars, splits = history
    start = data.draw(st.integers(0, len(bars) - 1))
    assert split_adjusted(bars[start:], splits) == split_adjusted(bars, splits)[start:]


def test_no_bars_are_no_bars() -> None:
    assert split_adjusted((), (Split(FIRST, Fraction(2)),)) == ()
