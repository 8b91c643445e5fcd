"""Measures how a price has moved: returns, drawdown, volatility, and its place in its own past.

Returns and drawdowns are fractions (0.05 = 5 %) of split-adjusted closes, without dividends. A figure is None if the
history does not reach back far enough; it is never extrapolated.
"""

from bisect import bisect_right
from calendar import monthrange
from dataclasses import dataclass
from datetime import date, timedelta

import numpy as np

from market_adapter.domain.indicators import ATR_PERIOD
from market_adapter.domain.series import Floats, Series
from market_adapter.domain.ta_lib import ta_lib

YEAR = 252
"""Sessions in a year: the convention of annualised volatility."""
BARS_READ = 520
"""Two years of sessions: a year of returns, and the warm-up of smoothed figures."""
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
    """All figures of a series; drawdowns and volatility over the last year, or over the history if that is shorter."""
    year = series.tail(YEAR + 1)
    drawdowns = year.close / np.maximum.accumulate(year.close) - 1
    atr = ta_lib().ATR(series.high, series.low, series.close, ATR_PERIOD)
    return Performance(
        returns=returns(series),
        max_drawdown=float(drawdowns.min()),
        current_drawdown=float(drawdowns[-1]),
        volatility=volatility(year.close),
        averages={
            length: float(series.close[-length:].mean()) if len(series) >= length else None for length in AVERAGES
        },
        atr=float(atr[-1]) if np.isfinite(atr[-1]) else None,
        volume_zscore=_volume_zscore(series),
    )


def volatility(close: Floats) -> float | None:
    """The standard deviation of daily log returns, annualised with 252 sessions; None for fewer than two returns."""
    logs = np.diff(np.log(close))
    return float(logs.std(ddof=1) * np.sqrt(YEAR)) if len(logs) > 1 else None


def returns(series: Series) -> dict[str, float | None]:
    """Returns from the previous close (1d), and from the last close on or before the same day one week, month, quarter
    or year earlier, or of the previous year (ytd)."""
    today = series.sessions[-1]
    base_days = {
        "1w": date.fromordinal(today.toordinal() - 7),
        "1m": months_before(today, 1),
        "3m": months_before(today, 3),
        "1y": months_before(today, 12),
        "ytd": date(today.year - 1, 12, 31),
    }
    returns_by_period: dict[str, float | None] = {"1d": None}
    if len(series) > 1:
        returns_by_period["1d"] = float(series.close[-1] / series.close[-2] - 1)
    for name, day in base_days.items():
        index = bisect_right(series.sessions, day) - 1
        returns_by_period[name] = float(series.close[-1] / series.close[index] - 1) if index >= 0 else None
    return returns_by_period


def first_day_to_date(period: str, last: date) -> date:
    """The first day of ytd, qtd, mtd or wtd; for since-09 or since-09-15 the latest such day before the month of
    `last`."""
    if not period.startswith("since-"):
        month = {"y": 1, "q": 3 * ((last.month - 1) // 3) + 1, "m": last.month}.get(period[0])
        return last - timedelta(days=last.weekday()) if month is None else date(last.year, month, 1)
    month, _, day = period.removeprefix("since-").partition("-")
    year = last.year if int(month) < last.month else last.year - 1
    return date(year, int(month), min(max(int(day or 1), 1), monthrange(year, int(month))[1]))


def first_day(period: str, last: date) -> date:
    """The first day of a period ("5y", "30d", "ytd", "since-09") that ends on `last`: the day after the day that is so
    long before `last`, or the first day of the year, quarter, month or week."""
    if period[0].isalpha():
        return first_day_to_date(period, last)
    count, unit = int(period[:-1]), period[-1]
    if unit in "my":
        day_before = months_before(last, count * (12 if unit == "y" else 1))
    else:
        day_before = last - timedelta(days=count * (7 if unit == "w" else 1))
    return day_before + timedelta(days=1)


def months_before(day: date, months: int) -> date:
    """The same day of an earlier month, or that month's last day."""
    year, month = divmod(day.year * 12 + day.month - 1 - months, 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _volume_zscore(series: Series) -> float | None:
    """The last volume's distance from the mean of the twenty before it, in their (sample) standard deviations."""
    if len(series) <= VOLUME_WINDOW:
        return None
    previous = series.volume[-VOLUME_WINDOW - 1 : -1]
    deviation = float(previous.std(ddof=1))
    return float((series.volume[-1] - previous.mean()) / deviation) if deviation > 0 else None
