"""Timeframes, and bars made from shorter ones.

Weekly bars are made of daily ones; a week is Monday to Sunday by the exchange's dates. 4h bars of equities are anchored
to the session's opening, so that there are as many of them in winter as in summer.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby

from contracts.tools.market import Timeframe
from market_adapter.domain.bars import Bar, BarHistory
from market_adapter.domain.splits import split_adjusted

FRIDAY = 4
DAYS_PER_WEEK = 5


def days_for_weeks(limit: int) -> int:
    """The number of daily bars that contain the last `limit` weeks."""
    return (limit + 1) * DAYS_PER_WEEK


def weekly(history: BarHistory, limit: int) -> BarHistory:
    """The last `limit` weekly bars of a daily history, in shares of its last session."""
    adjusted = split_adjusted(history.bars, history.splits)
    return replace(history, bars=_group(adjusted, lambda bar: _monday(bar.session))[-limit:], splits=())


def four_hourly(history: BarHistory, opening: Callable[[date], datetime], limit: int) -> BarHistory:
    """The last `limit` 4h bars made of hourly ones. `opening` returns when a session opened (for pairs midnight
    UTC)."""

    def block(bar: Bar) -> tuple[date, int]:
        return bar.session, (bar.time - opening(bar.session)) // Timeframe.H4.length

    return replace(history, bars=_group(history.bars, block)[-limit:])


def is_closed(last: Bar, timeframe: Timeframe, now: datetime) -> bool:
    """Whether the newest bar is complete. A week is complete after Friday's session, or once a later week has begun."""
    if timeframe is not Timeframe.W1:
        return last.end <= now
    is_week_over = last.session.weekday() >= FRIDAY and last.end <= now
    return is_week_over or _monday(now.date()) > _monday(last.session)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _group(bars: Sequence[Bar], key: Callable[[Bar], object]) -> tuple[Bar, ...]:
    return tuple(_join(tuple(group)) for _, group in groupby(bars, key))


def _join(bars: Sequence[Bar]) -> Bar:
    """Joins adjacent bars: first open, last close, full range and total volume; its session is the last one."""
    return Bar(
        session=bars[-1].session,
        time=bars[0].time,
        end=bars[-1].end,
        open=bars[0].open,
        high=max(bar.high for bar in bars),
        low=min(bar.low for bar in bars),
        close=bars[-1].close,
        volume=sum(bar.volume for bar in bars),
    )
