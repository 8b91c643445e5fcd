"""New York's trading days by pandas_market_calendars: holidays, early closes, pre-market and after-hours.

The library is imported on first use, in a thread: with pandas it takes seconds, and no start needs to wait for that.
"""

import asyncio
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

from market_adapter.domain.sessions import SessionState, TradingSession, state_at

PAD_BEFORE = timedelta(days=10)
PAD_AFTER = timedelta(days=20)
"""The window of the schedule around a day, outside of which the library raises; New York was once closed for six days
in a row (2001)."""
YEAR = timedelta(days=365)
NEW_YORK = ZoneInfo("America/New_York")
_SATURDAY = 5
EARLY_CLOSE_LENGTH = timedelta(hours=6)
"""A session shorter than this has an early close (6.5 hours are usual; openings that are minutes late do not count)."""


class Holiday(NamedTuple):
    """A weekday on which the exchange is closed, or closes early at `closes`."""

    day: date
    closes: datetime | None


async def new_york_state(now: datetime) -> SessionState:
    """The state of the New York Stock Exchange at `now`."""
    return state_at(now, await asyncio.to_thread(_sessions_around, now.astimezone(UTC).date()))


async def sessions_from(day: date, today: date) -> list[TradingSession]:
    """The sessions of `day` and the three weeks after it, as they are known on `today`: closures that no rule of the
    calendar plans (a storm, a funeral) are unknown before their day."""
    sessions = await asyncio.to_thread(_sessions_around, day)
    from_day = [session for session in sessions if session.day >= day]
    return from_day if day + PAD_AFTER <= today else await asyncio.to_thread(_as_planned, day, today, from_day)


async def holidays_after(day: date, today: date, count: int) -> list[Holiday]:
    """The next `count` weekdays after `day` on which the exchange is closed or closes early, of a year. Closures that
    no rule of the calendar plans are unknown before their day."""
    holidays = await asyncio.to_thread(_holidays_after, day)
    unplanned = {stamp.date() for stamp in _calendar().adhoc_holidays}
    return [holiday for holiday in holidays if holiday.day <= today or holiday.day not in unplanned][:count]


def _as_planned(day: date, today: date, sessions: list[TradingSession]) -> list[TradingSession]:
    calendar = _calendar()
    unplanned = {stamp.date() for stamp in calendar.adhoc_holidays}
    by_day = {session.day: session for session in sessions}
    regular = next(session for session in sessions if not session.early_close)
    for candidate in (day + timedelta(days=ahead) for ahead in range(PAD_AFTER.days + 1)):
        if candidate > today and candidate in unplanned and candidate.weekday() < _SATURDAY:
            by_day[candidate] = _at_hours_of(regular, candidate)
    return [by_day[candidate] for candidate in sorted(by_day)]


def _at_hours_of(regular: TradingSession, day: date) -> TradingSession:
    """A session on `day` at the hours of a regular one by New York's clock."""
    times = (
        datetime.combine(day, time.astimezone(NEW_YORK).time(), NEW_YORK).astimezone(UTC)
        for time in (regular.pre, regular.opens, regular.closes, regular.post)
    )
    return TradingSession(day, *times, early_close=False)


@lru_cache(maxsize=512)
def _sessions_around(day: date) -> tuple[TradingSession, ...]:
    first, last = day - PAD_BEFORE, day + PAD_AFTER
    years = range(first.year, last.year + 1)
    return tuple(session for year in years for session in _sessions_of(year) if first <= session.day <= last)


@lru_cache(maxsize=16)
def _sessions_of(year: int) -> tuple[TradingSession, ...]:
    """The sessions of a year: the library takes about as long for a month."""
    return _sessions_between(date(year, 1, 1), date(year, 12, 31))


@lru_cache(maxsize=64)
def _holidays_after(day: date) -> tuple[Holiday, ...]:
    days = [day + timedelta(days=ahead) for ahead in range(1, YEAR.days + 1)]
    sessions = {session.day: session for session in _sessions_between(days[0], days[-1])}
    return tuple(
        Holiday(candidate, sessions[candidate].closes if candidate in sessions else None)
        for candidate in days
        if (sessions[candidate].early_close if candidate in sessions else candidate.weekday() < _SATURDAY)
    )


def _sessions_between(first: date, last: date) -> tuple[TradingSession, ...]:
    schedule: Any = _calendar().schedule(first, last, market_times="all")
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
    early = times[2] - times[1] < EARLY_CLOSE_LENGTH
    return TradingSession(day, *times, early_close=early)
