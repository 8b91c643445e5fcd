"""A period of a series between two days, and what can be measured of it.

A return is measured from the last close before the first day, so that a year's return goes from year's end to year's
end. If the data begin later, it is measured from their first close, and `base` says from which day.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import numpy as np

from contracts.tools.market import Every
from market_adapter.domain.performance import YEAR
from market_adapter.domain.series import Floats, Series

_PART: Mapping[Every, Callable[[date], tuple[int, int]]] = {
    "week": lambda day: day.isocalendar()[:2],
    "month": lambda day: (day.year, day.month),
    "quarter": lambda day: (day.year, (day.month - 1) // 3),
    "year": lambda day: (day.year, 0),
}
DAYS_OF_A_YEAR = 365.25
SHORTEST_CAGR = 0.99
"""Years: a calendar year's sessions are a day or two short of one."""


class Extreme(NamedTuple):
    """A value, and the first day that had it."""

    value: float
    on: date


@dataclass(frozen=True, slots=True)
class Stretch:
    """The closes from the base on (its day first), of which `first` to `last` are the stretch's own sessions."""

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
        """The returns of the sessions, as fractions."""
        return self.close[1:] / self.close[:-1] - 1


@dataclass(frozen=True, slots=True)
class Drawdown:
    """A fall from a peak: to its lowest close, and when the peak was reached again (None: not yet)."""

    peak: date
    trough: date
    recovered: date | None
    depth: float


def stretch(series: Series, first: date, last: date) -> Stretch | None:
    """The sessions from `first` to `last`; None: there are none, or only the base."""
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


def close_extremes(of: Stretch) -> tuple[Extreme, Extreme]:
    """The highest and the lowest close of the stretch's own sessions."""
    own = len(of.volume)
    return _highest(of.days[-own:], of.close[-own:]), _lowest(of.days[-own:], of.close[-own:])


def busiest(of: Stretch) -> Extreme:
    """The session with the largest volume."""
    return _highest(of.days[-len(of.volume) :], of.volume)


def _highest(days: Sequence[date], values: Floats) -> Extreme:
    at = int(values.argmax())
    return Extreme(float(values[at]), days[at])


def _lowest(days: Sequence[date], values: Floats) -> Extreme:
    at = int(values.argmin())
    return Extreme(float(values[at]), days[at])


def total_return(of: Stretch) -> float:
    """Returns the change from the base to the last close, as a fraction, without dividends."""
    return float(of.close[-1] / of.close[0] - 1)


def volatility(of: Stretch) -> float | None:
    """Annualised with 252, of daily log returns; None for fewer than two."""
    logs = np.diff(np.log(of.close))
    return float(logs.std(ddof=1) * np.sqrt(YEAR)) if len(logs) > 1 else None


def drawdowns(of: Stretch, most: int) -> list[Drawdown]:
    """The deepest falls from a peak, deepest first; two of them never overlap."""
    found: list[Drawdown] = []
    peak, trough = 0, 0
    for index in range(1, len(of.close)):
        if of.close[index] >= of.close[peak]:
            if trough > peak:
                found.append(_drawdown(of, peak, trough, index))
            peak = trough = index
        elif trough == peak or of.close[index] < of.close[trough]:
            trough = index
    if trough > peak:
        found.append(_drawdown(of, peak, trough, None))
    return sorted(found, key=lambda one: one.depth)[:most]


def extremes(of: Stretch, most: int) -> tuple[list[tuple[date, float]], list[tuple[date, float]]]:
    """The best and the worst sessions, each with its day and return, the furthest first."""
    moves = of.returns
    best, worst = (np.argsort(each, kind="stable")[:most] for each in (-moves, moves))
    return [(of.days[at + 1], float(moves[at])) for at in best], [(of.days[at + 1], float(moves[at])) for at in worst]


def streak(of: Stretch, *, rising: bool) -> tuple[date, date, int] | None:
    """The longest run of sessions that each closed higher, or lower, than the one before: its first and last session
    and how many they are; of equal ones the earliest. None: no session did."""
    best, start = (0, 0), 0
    moves = of.returns if rising else -of.returns
    for at, move in enumerate(moves):
        if move <= 0:
            start = at + 1
        elif at + 1 - start > best[1] - best[0]:
            best = (start, at + 1)
    first, end = best
    return (of.days[first + 1], of.days[end], end - first) if end else None


def running(of: Stretch) -> tuple[date, int] | None:
    """The sessions up to the last one that all closed higher, or all lower, than the one before: the first of them and
    how many they are, below 0 for lower ones. None: the last session did neither."""
    signs = np.sign(of.returns)
    if not len(signs) or not signs[-1]:
        return None
    others = np.flatnonzero(signs != signs[-1])
    start = int(others[-1]) + 1 if len(others) else 0
    return of.days[start + 1], int(signs[-1]) * (len(signs) - start)


def yearly(of: Stretch, gained: float) -> float | None:
    """The yearly rate that compounds to what was gained; None for a stretch of less than a year."""
    years = (of.last - of.days[0]).days / DAYS_OF_A_YEAR
    return float((1 + gained) ** (1 / years) - 1) if years >= SHORTEST_CAGR else None


def parts(of: Stretch, every: Every) -> list[Stretch]:
    """The stretch cut where a week, month, quarter or year ends; each part begins at the close before it."""
    first = len(of.days) - int(np.count_nonzero(np.array([day >= of.first for day in of.days])))
    found: list[Stretch] = []
    start = first
    for index in range(first, len(of.days)):
        if index + 1 == len(of.days) or _PART[every](of.days[index + 1]) != _PART[every](of.days[index]):
            base = max(start - 1, 0)
            days, close = of.days[base : index + 1], of.close[base : index + 1]
            ends = _highest(days, close), _lowest(days, close)
            volume = of.volume[start - first : index + 1 - first]
            found.append(Stretch(days, close, *ends, of.days[start], of.days[index], volume))
            start = index + 1
    return found


def paired_returns(one: Stretch, other: Stretch) -> tuple[Floats, Floats]:
    """The daily returns of both, between the days on which both have a close."""
    common = sorted(set(one.days) & set(other.days))
    picked = [[of.close[bisect_left(of.days, day)] for day in common] for of in (one, other)]
    a, b = (np.array(closes, dtype=np.float64) for closes in picked)
    return a[1:] / a[:-1] - 1, b[1:] / b[:-1] - 1


def correlation(one: Floats, other: Floats) -> float | None:
    """Pearson's; None for fewer than three returns, or where one never moves."""
    if len(one) < 3 or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def beta(one: Floats, benchmark: Floats) -> float | None:
    """The covariance with the benchmark over its variance."""
    if len(one) < 3 or not benchmark.std():
        return None
    return float(np.cov(one, benchmark, ddof=1)[0, 1] / benchmark.var(ddof=1))


@dataclass(frozen=True, slots=True)
class AverageCrossing:
    """The session at whose close the fast average stood on the other side of the slow one."""

    on: date
    above: bool
    close: float


def crossings(series: Series, fast: int, slow: int, first: date, last: date) -> list[AverageCrossing]:
    """Finds where simple averages of `fast` and `slow` closes cross, from `first` to `last`, the oldest first."""
    if len(series) < slow:
        return []
    sums = np.concatenate(([0.0], np.cumsum(series.close)))
    at = np.arange(slow, len(series) + 1)
    gap = (sums[at] - sums[at - fast]) / fast - (sums[at] - sums[at - slow]) / slow
    found: list[AverageCrossing] = []
    side = 0
    for index, value in enumerate(gap):
        now = 0 if abs(value) < 1e-12 * series.close[index + slow - 1] else 1 if value > 0 else -1
        if now and side and now != side:
            session = index + slow - 1
            if first <= series.sessions[session] <= last:
                found.append(AverageCrossing(series.sessions[session], now > 0, float(series.close[session])))
        side = now or side
    return found


def _drawdown(of: Stretch, peak: int, trough: int, recovered: int | None) -> Drawdown:
    return Drawdown(
        of.days[peak],
        of.days[trough],
        None if recovered is None else of.days[recovered],
        float(of.close[trough] / of.close[peak] - 1),
    )
