"""Stretches: the sessions of a series between two days, and the figures that can be measured over them.

A return is measured from the last close before the first day, so that a year's return goes from year's end to year's
end. If the data begin later, it is measured from their first close, and `base` is that day.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from contracts.tools.ranges import Every
from market_adapter.domain.series import Floats, Series

_PART_KEYS: Mapping[Every, Callable[[date], tuple[int, int]]] = {
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
    "quarter": lambda day: (day.year, (day.month - 1) // 3),
    "year": lambda day: (day.year, 0),
}
DAYS_OF_A_YEAR = 365.25
MIN_CAGR_YEARS = 0.99
"""In years: the sessions of a calendar year span a day or two less than a year."""


class Extreme(NamedTuple):
    """A value, and the first day that had it."""

    value: float
    on: date


@dataclass(frozen=True, slots=True)
class Stretch:
    """The closes of a stretch. They begin with the base, which is before `first` unless the data begin there; `first`
    to `last` are the stretch's own sessions."""

    days: tuple[date, ...]
    close: Floats
    high: "Extreme"
    low: "Extreme"
    first: date
    last: date
    volume: Floats
    """The volume of the stretch's own sessions."""

    @property
    def returns(self) -> Floats:
        """The daily returns, as fractions."""
        return self.close[1:] / self.close[:-1] - 1


@dataclass(frozen=True, slots=True)
class Drawdown:
    """A fall from a peak to its lowest close, and when the peak was reached again (None: not yet)."""

    peak: date
    trough: date
    recovered: date | None
    depth: float


def stretch_between(series: Series, first: date, last: date) -> Stretch | None:
    """The stretch from `first` to `last`; None if it has no sessions."""
    start, end = bisect_left(series.sessions, first), bisect_right(series.sessions, last)
    if start >= end:
        return None
    base = max(start - 1, 0)
    return Stretch(
        days=series.sessions[base:end],
        close=series.close[base:end],
        high=_highest(series.sessions[start:end], series.high[start:end]),
        low=_lowest(series.sessions[start:end], series.low[start:end]),
        first=series.sessions[start],
        last=series.sessions[end - 1],
        volume=series.volume[start:end],
    )


def close_extremes(stretch: Stretch) -> tuple[Extreme, Extreme]:
    """The highest and the lowest close of the stretch's own sessions."""
    count = len(stretch.volume)
    return _highest(stretch.days[-count:], stretch.close[-count:]), _lowest(
        stretch.days[-count:], stretch.close[-count:]
    )


def busiest(stretch: Stretch) -> Extreme:
    """The session with the largest volume."""
    return _highest(stretch.days[-len(stretch.volume) :], stretch.volume)


def _highest(days: Sequence[date], values: Floats) -> Extreme:
    index = int(values.argmax())
    return Extreme(float(values[index]), days[index])


def _lowest(days: Sequence[date], values: Floats) -> Extreme:
    index = int(values.argmin())
    return Extreme(float(values[index]), days[index])


def total_return(stretch: Stretch) -> float:
    """The change from the base to the last close, as a fraction, without dividends."""
    return float(stretch.close[-1] / stretch.close[0] - 1)


def drawdowns(stretch: Stretch, limit: int) -> list[Drawdown]:
    """The deepest falls from a peak, deepest first; they never overlap."""
    falls: list[Drawdown] = []
    peak, trough = 0, 0
    for index in range(1, len(stretch.close)):
        if stretch.close[index] >= stretch.close[peak]:
            if trough > peak:
                falls.append(_drawdown(stretch, peak, trough, index))
            peak = trough = index
        elif trough == peak or stretch.close[index] < stretch.close[trough]:
            trough = index
    if trough > peak:
        falls.append(_drawdown(stretch, peak, trough, None))
    return sorted(falls, key=lambda fall: fall.depth)[:limit]


def extremes(stretch: Stretch, limit: int) -> tuple[list[tuple[date, float]], list[tuple[date, float]]]:
    """The best and the worst sessions, each with its day and return, the most extreme first."""
    moves = stretch.returns
    best, worst = (np.argsort(signed_moves, kind="stable")[:limit] for signed_moves in (-moves, moves))
    return [(stretch.days[index + 1], float(moves[index])) for index in best], [
        (stretch.days[index + 1], float(moves[index])) for index in worst
    ]


def streak(stretch: Stretch, *, rising: bool) -> tuple[date, date, int] | None:
    """The longest run of sessions that each closed higher, or lower, than the one before: its first and last session
    and its length; the earliest of equally long ones. None if no session did."""
    best, start = (0, 0), 0
    moves = stretch.returns if rising else -stretch.returns
    for index, move in enumerate(moves):
        if move <= 0:
            start = index + 1
        elif index + 1 - start > best[1] - best[0]:
            best = (start, index + 1)
    first, end = best
    return (stretch.days[first + 1], stretch.days[end], end - first) if end else None


def running(stretch: Stretch) -> tuple[date, int] | None:
    """The current run of sessions that all closed higher, or all lower, than the one before: its first session and its
    length, negative for lower closes. None if the last close was unchanged."""
    signs = np.sign(stretch.returns)
    if not len(signs) or not signs[-1]:
        return None
    others = np.flatnonzero(signs != signs[-1])
    start = int(others[-1]) + 1 if len(others) else 0
    return stretch.days[start + 1], int(signs[-1]) * (len(signs) - start)


def yearly(stretch: Stretch, gained: float) -> float | None:
    """The yearly rate that compounds to `gained`; None for a stretch of less than a year."""
    years = (stretch.last - stretch.days[0]).days / DAYS_OF_A_YEAR
    return float((1 + gained) ** (1 / years) - 1) if years >= MIN_CAGR_YEARS else None


def parts(stretch: Stretch, every: Every) -> list[Stretch]:
    """The stretch divided at the ends of weeks, months, quarters or years; the base of each part is the close before
    it."""
    first = len(stretch.days) - int(np.count_nonzero(np.array([day >= stretch.first for day in stretch.days])))
    pieces: list[Stretch] = []
    start = first
    for index in range(first, len(stretch.days)):
        if index + 1 == len(stretch.days) or _PART_KEYS[every](stretch.days[index + 1]) != _PART_KEYS[every](
            stretch.days[index]
        ):
            base = max(start - 1, 0)
            days, close = stretch.days[base : index + 1], stretch.close[base : index + 1]
            high_and_low = _highest(days, close), _lowest(days, close)
            volume = stretch.volume[start - first : index + 1 - first]
            pieces.append(Stretch(days, close, *high_and_low, stretch.days[start], stretch.days[index], volume))
            start = index + 1
    return pieces


def paired_returns(first: Stretch, second: Stretch, every: Every | None = None) -> tuple[Floats, Floats]:
    """The returns of both stretches between the days on which both have a close, or between the last ones of each week,
    month, …"""
    common = sorted(set(first.days) & set(second.days))
    if every is not None:
        common = list({_PART_KEYS[every](day): day for day in common}.values())
    closes_of_both = [[stretch.close[bisect_left(stretch.days, day)] for day in common] for stretch in (first, second)]
    first_closes, second_closes = (np.array(closes, dtype=np.float64) for closes in closes_of_both)
    return first_closes[1:] / first_closes[:-1] - 1, second_closes[1:] / second_closes[:-1] - 1


def correlation(first: Floats, second: Floats) -> float | None:
    """Pearson's correlation; None for fewer than three returns, or if one of them never moves."""
    if len(first) < 3 or not first.std() or not second.std():
        return None
    return float(np.corrcoef(first, second)[0, 1])


def beta(returns: Floats, benchmark: Floats) -> float | None:
    """The covariance with the benchmark divided by the benchmark's variance; None as for `correlation`."""
    if len(returns) < 3 or not benchmark.std():
        return None
    return float(np.cov(returns, benchmark, ddof=1)[0, 1] / benchmark.var(ddof=1))


@dataclass(frozen=True, slots=True)
class AverageCrossing:
    """The session at whose close the fast average was on the other side of the slow one."""

    on: date
    above: bool
    close: float


def crossings(series: Series, fast: int, slow: int, first: date, last: date) -> list[AverageCrossing]:
    """The crossings of the simple averages of `fast` and `slow` closes from `first` to `last`, oldest first."""
    if len(series) < slow:
        return []
    sums = np.concatenate(([0.0], np.cumsum(series.close)))
    ends = np.arange(slow, len(series) + 1)
    gap = (sums[ends] - sums[ends - fast]) / fast - (sums[ends] - sums[ends - slow]) / slow
    crossings_found: list[AverageCrossing] = []
    side = 0
    for index, value in enumerate(gap):
        new_side = 0 if abs(value) < 1e-12 * series.close[index + slow - 1] else 1 if value > 0 else -1
        if new_side and side and new_side != side:
            session = index + slow - 1
            if first <= series.sessions[session] <= last:
                crossings_found.append(
                    AverageCrossing(series.sessions[session], new_side > 0, float(series.close[session]))
                )
        side = new_side or side
    return crossings_found


def _drawdown(stretch: Stretch, peak: int, trough: int, recovered: int | None) -> Drawdown:
    return Drawdown(
        stretch.days[peak],
        stretch.days[trough],
        None if recovered is None else stretch.days[recovered],
        float(stretch.close[trough] / stretch.close[peak] - 1),
    )
