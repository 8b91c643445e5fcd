"""New York's trading days by pandas_market_calendars: holidays, early closes, pre- and after-hours.

It is imported when first asked, in a thread: with pandas it takes seconds, which a start-up need not wait for.
"""

import asyncio
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any

from market_adapter.domain.sessions import MarketState, TradingSession, state_at

PAD_BEFORE = timedelta(days=10)
PAD_AFTER = timedelta(days=20)
"""The schedule raises outside its window, and New York has been closed for six days in a row (2001)."""
EARLY = timedelta(hours=6)
"""A session shorter than this ends early (6.5 hours are the rule; a late opening by minutes is not meant)."""


async def new_york(now: datetime) -> MarketState:
    """Returns the state of the New York Stock Exchange at `now`."""
    return state_at(now, await asyncio.to_thread(_sessions_around, now.astimezone(UTC).date()))


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
