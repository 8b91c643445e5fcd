"""get_market_hours: when the New York exchange opens and closes on a day, and its next holidays."""

from contracts.tools.market import HolidayData, HoursArguments, HoursData
from market_adapter.adapters.exchange_calendar import NEW_YORK, holidays_after, sessions_from
from market_adapter.tools.tool import MarketTools, tool

MAX_HOLIDAYS = 6


class HoursTools(MarketTools):
    """The tool for the exchange's calendar."""

    @tool
    async def get_market_hours(self, arguments: HoursArguments) -> HoursData:
        """The session of a day; for a future day, the session that the calendar plans."""
        now = self._provider.now()
        today = now.astimezone(NEW_YORK).date()
        day = arguments.day or today
        sessions = await sessions_from(day, today)
        session = next((candidate for candidate in sessions if candidate.day == day), None)
        holidays = await holidays_after(day, today, MAX_HOLIDAYS)
        return HoursData(
            exchange="NYSE",
            day=day,
            opens=session and session.opens,
            closes=session and session.closes,
            early_close=session is not None and session.early_close,
            next_day=next(later.day for later in sessions if later.day > day),
            holidays=[HolidayData(day=holiday.day, closes=holiday.closes) for holiday in holidays],
            source=self._provider.source,
            as_of=now,
        )
