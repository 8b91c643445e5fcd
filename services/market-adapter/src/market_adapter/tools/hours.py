"""get_market_hours: when New York's exchange opens and closes on a day."""

from datetime import date, datetime

from contracts.tools.market import HoursArguments
from market_adapter.adapters.exchange_calendar import NEW_YORK, sessions_from
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool


class HoursData(Sourced):
    """Output of get_market_hours. `opens` and `closes` are null on a day without a session; `next_day` is the first day
    after it that has one, `early_close` whether the session is shorter than usual."""

    exchange: str = "NYSE"
    day: date
    opens: datetime | None
    closes: datetime | None
    early_close: bool
    next_day: date


class HoursTools:
    """The calendar of the exchange."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    @tool
    async def get_market_hours(self, asked: HoursArguments) -> HoursData:
        """The session of a day; of a day to come, what the calendar plans."""
        now = self._provider.now()
        today = now.astimezone(NEW_YORK).date()
        day = asked.day or today
        sessions = await sessions_from(day, today)
        session = next((one for one in sessions if one.day == day), None)
        return HoursData(
            day=day,
            opens=session and session.opens,
            closes=session and session.closes,
            early_close=session is not None and session.early_close,
            next_day=next(one.day for one in sessions if one.day > day),
            source=self._provider.source,
            as_of=now,
        )
