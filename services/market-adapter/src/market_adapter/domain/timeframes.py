"""Timeframes, and bars made from shorter ones.

Weekly bars are made of the daily ones, a week being Monday to Sunday of the exchange's dates; 4h bars of equities are
anchored to the session's opening, so that there are as many of them in winter as in summer.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import groupby

from contracts.tools.market import Timeframe
from market_adapter.domain.bars import Bar, BarHistory
from market_adapter.domain.splits import split_adjusted

FRIDAY = 4


def weekly(history: BarHistory) -> BarHistory:
    """The weeks of a daily history, in shares of its last session."""
    adjusted = split_adjusted(history.bars, history.splits)
    return replace(history, bars=_grouped(adjusted, lambda bar: _monday(bar.session)), splits=())


def four_hourly(history: BarHistory, opening: Callable[[date], datetime]) -> BarHistory:
    """4h bars made from hourly ones. `opening`: when a session opened (pairs: midnight UTC)."""

    def block(bar: Bar) -> tuple[date, int]:
        return bar.session, (bar.time - opening(bar.session)) // Timeframe.H4.length

    return replace(history, bars=_grouped(history.bars, block))


def is_closed(last: Bar, timeframe: Timeframe, now: datetime) -> bool:
    """Whether nothing more can happen in the newest bar. A week is over with its Friday's session, or when a later
    week has come."""
    if timeframe is not Timeframe.W1:
        return last.end <= now
    over = last.session.weekday() >= FRIDAY and last.end <= now
    return over or _monday(now.date()) > _monday(last.session)


def _monday(day: date) -> date:
    return day - timedelta(days=day.weekday())


def _grouped(bars: Sequence[Bar], key: Callable[[Bar], object]) -> tuple[Bar, ...]:
    return tuple(_joined(tuple(group)) for _, group in groupby(bars, key))


def _joined(bars: Sequence[Bar]) -> Bar:
    """One bar of several neighbours: first open, last close, whole range and volume; it counts as of its last day."""
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
