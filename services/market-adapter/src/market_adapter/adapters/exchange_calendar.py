"""New York's trading days by pandas_market_calendars: holidays, early closes, pre- and after-hours.

It is imported when first asked, in a thread: with pandas it takes seconds, which a start-up need not wait for.
"""

import asyncio
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from market_adapter.domain.sessions import MarketState, TradingSession, state_at

PAD_BEFORE = timedelta(days=10)
PAD_AFTER = timedelta(days=20)
"""The schedule raises outside its window, and New York has been closed for six days in a row (2001)."""
NEW_YORK = ZoneInfo("America/New_York")
_SATURDAY = 5
EARLY = timedelta(hours=6)
"""A session shorter than this ends early (6.5 hours are the rule; a late opening by minutes is not meant)."""


async def new_york(now: datetime) -> MarketState:
    """Returns the state of the New York Stock Exchange at `now`."""
    return state_at(now, await asyncio.to_thread(_sessions_around, now.astimezone(UTC).date()))


async def sessions_from(day: date, today: date) -> list[TradingSession]:
    """The sessions of `day` and the three weeks after it, as they are known on `today`: closings that no rule of the
    calendar plans (a storm, a funeral) are unknown before their day."""
    found = await asyncio.to_thread(_sessions_around, day)
    known = [one for one in found if one.day >= day]
    return known if day + PAD_AFTER <= today else await asyncio.to_thread(_as_planned, day, today, known)


def _as_planned(day: date, today: date, known: list[TradingSession]) -> list[TradingSession]:
    calendar = _calendar()
    unplanned = {stamp.date() for stamp in calendar.adhoc_holidays}
    held = {one.day: one for one in known}
    usual = next(one for one in known if not one.early_close)
    for at in (day + timedelta(days=ahead) for ahead in range(PAD_AFTER.days + 1)):
        if at > today and at in unplanned and at.weekday() < _SATURDAY:
            held[at] = _at_hours_of(usual, at)
    return [held[at] for at in sorted(held)]


def _at_hours_of(usual: TradingSession, day: date) -> TradingSession:
    """A session at the hours that another one has by New York's clock."""
    times = (
        datetime.combine(day, one.astimezone(NEW_YORK).time(), NEW_YORK).astimezone(UTC)
        for one in (usual.pre, usual.opens, usual.closes, usual.post)
    )
    return TradingSession(day, *times, early_close=False)


@lru_cache(maxsize=512)
def _sessions_around(day: date) -> tuple[TradingSession, ...]:
    calendar = _calendar()
    schedule: Any = calendar.schedule(day - PAD_BEFORE, day + PAD_AFTER, market_times="all")
    return tuple(
        _session(index.date(), row.pre, row.market_open, row.market_close, row.post)
        for index, row in zip(schedule.index, schedule.itertuples(), strict=True)
    )


@lru_cache(maxsize=1)
def _calendar() -> Any:
    import pandas_market_calendars

    return pandas_market_calendars.get_calendar("NYSE")


def _session(day: date, pre: Any, opens: Any, closes: Any, post: Any) -> TradingSession:
    times = [stamp.to_pydatetime().astimezone(UTC) for stamp in (pre, opens, closes, post)]
    early = times[2] - times[1] < EARLY
    return TradingSession(day, *times, early_close=early)
