"""Measures how a price has moved: returns, drawdown, volatility, and its place in its own past.

Returns and drawdowns are fractions (0.05 = 5 %) of split-adjusted closes, dividends not counted. A figure is None when
the history does not reach back far enough: it is never stretched.
"""

from bisect import bisect_right
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from market_adapter.domain.indicators import ATR_PERIOD
from market_adapter.domain.series import Series
from market_adapter.domain.ta_lib import ta_lib

YEAR = 252
"""Sessions in a year: the convention of annualised volatility."""
BARS = 520
"""Two years of sessions: a year of returns, and the warm-up of what is smoothed."""
VOLUME_WINDOW = 20
AVERAGES = (20, 50, 200)


@dataclass(frozen=True, slots=True)
class Performance:
    """Figures at the last bar. `returns` by period: 1d, 1w, 1m, 3m, 1y, ytd."""

    returns: dict[str, float | None]
    max_drawdown: float
    current_drawdown: float
    volatility: float | None
    averages: dict[int, float | None]
    atr: float | None
    volume_zscore: float | None


def performance(series: Series) -> Performance:
    """Everything of one series; drawdowns and volatility over the last year, or what there is of it."""
    year = series.tail(YEAR + 1)
    peaks = np.maximum.accumulate(year.close)
    drawdowns = year.close / peaks - 1
    logs = np.diff(np.log(year.close))
    atr = ta_lib().ATR(series.high, series.low, series.close, ATR_PERIOD)
    return Performance(
        returns=returns(series),
        max_drawdown=float(drawdowns.min()),
        current_drawdown=float(drawdowns[-1]),
        volatility=float(logs.std(ddof=1) * np.sqrt(YEAR)) if len(logs) > 1 else None,
        averages={n: float(series.close[-n:].mean()) if len(series) >= n else None for n in AVERAGES},
        atr=float(atr[-1]) if np.isfinite(atr[-1]) else None,
        volume_zscore=_volume_zscore(series),
    )


def returns(series: Series) -> dict[str, float | None]:
    """Against the close of the session before (1d), and the last close on or before the same day one week, month,
    quarter or year earlier, or of the year before (ytd)."""
    today = series.sessions[-1]
    since = {
        "1w": date.fromordinal(today.toordinal() - 7),
        "1m": months_before(today, 1),
        "3m": months_before(today, 3),
        "1y": months_before(today, 12),
        "ytd": date(today.year - 1, 12, 31),
    }
    found: dict[str, float | None] = {"1d": None}
    if len(series) > 1:
        found["1d"] = float(series.close[-1] / series.close[-2] - 1)
    for name, day in since.items():
        index = bisect_right(series.sessions, day) - 1
        found[name] = float(series.close[-1] / series.close[index] - 1) if index >= 0 else None
    return found


def to_date(period: str, last: date) -> date:
    """The first day of ytd, qtd, mtd, wtd; of since-09 or since-09-15 the latest one before the month of `last`."""
    if not period.startswith("since-"):
        month = {"y": 1, "q": 3 * ((last.month - 1) // 3) + 1, "m": last.month}.get(period[0])
        return last - timedelta(days=last.weekday()) if month is None else date(last.year, month, 1)
    month, _, day = period.removeprefix("since-").partition("-")
    year = last.year if int(month) < last.month else last.year - 1
    return date(year, int(month), min(max(int(day or 1), 1), monthrange(year, int(month))[1]))


def first_day(period: str, last: date) -> date:
    """The first day of a period ("5y", "30d", "ytd", "since-09") that ends on `last`: the day after the one that
    lies so long before it, or the first of the year, quarter, month or week."""
    if period[0].isalpha():
        return to_date(period, last)
    count, unit = int(period[:-1]), period[-1]
    if unit in "my":
        before = months_before(last, count * (12 if unit == "y" else 1))
    else:
        before = last - timedelta(days=count * (7 if unit == "w" else 1))
    return before + timedelta(days=1)


def months_before(day: date, months: int) -> date:
    """The same day of an earlier month, or that month's last one."""
    index = day.year * 12 + day.month - 1 - months
    year, month = divmod(index, 12)
    after = date(year + (month + 1) // 12, (month + 1) % 12 + 1, 1)
    last = date.fromordinal(after.toordinal() - 1).day
    return date(year, month + 1, min(day.day, last))


def _volume_zscore(series: Series) -> float | None:
    """The last volume against the twenty before it, in their (sample) standard deviations."""
    if len(series) <= VOLUME_WINDOW:
        return None
    before = series.volume[-VOLUME_WINDOW - 1 : -1]
    deviation = float(before.std(ddof=1))
    return float((series.volume[-1] - before.mean()) / deviation) if deviation > 0 else None
