"""The opening and closing times of a symbol's own exchange, by pandas_market_calendars.

It is called in the threads that ask Yahoo, since the first call for an exchange loads its calendar, which takes a
while.
"""

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from functools import lru_cache
from typing import Any
from zoneinfo import ZoneInfo

from contracts.symbols import Symbol, SymbolKind

HOME = "NYSE"
_BY_SUFFIX: Mapping[str, str] = {
    "AS": "XAMS", "AT": "ASEX", "AX": "XASX", "BA": "XBUE", "BK": "XBKK", "BO": "XBOM", "BR": "XBRU", "CO": "XCSE",
    "DE": "XETR", "F": "XFRA", "HE": "XHEL", "HK": "XHKG", "IL": "XLON", "IR": "XDUB", "IS": "XIST", "JK": "XIDX",
    "JO": "XJSE", "KL": "XKLS", "KQ": "XKRX", "KS": "XKRX", "L": "XLON", "LS": "XLIS", "MC": "XMAD", "MI": "XMIL",
    "MX": "XMEX", "NE": "XTSE", "NS": "XNSE", "NZ": "XNZE", "OL": "XOSL", "PA": "XPAR", "PR": "XPRA", "SA": "BVMF",
    "SI": "XSES", "SN": "XSGO", "SR": "XSAU", "SS": "XSHG", "ST": "XSTO", "SW": "XSWX", "SZ": "XSHG", "T": "XTKS",
    "TA": "XTAE", "TO": "XTSE", "TW": "XTAI", "TWO": "XTAI", "V": "XTSE", "VI": "XWBO", "WA": "XWAR",
}  # fmt: skip
"""Yahoo's suffixes: https://help.yahoo.com/kb/SLN2310.html"""
_BY_INDEX: Mapping[str, str] = {
    "^AXJO": "XASX", "^BSESN": "XBOM", "^BVSP": "BVMF", "^FCHI": "XPAR", "^FTSE": "XLON", "^GDAXI": "XETR",
    "^GSPTSE": "XTSE", "^HSI": "XHKG", "^IBEX": "XMAD", "^KS11": "XKRX", "^MERV": "XBUE", "^MXX": "XMEX",
    "^N225": "XTKS", "^NSEI": "XNSE", "^SSMI": "XSWX", "^STOXX50E": "XETR", "^TWII": "XTAI",
}  # fmt: skip
_CLASSES = ("A", "B", "C")

Hours = tuple[datetime, datetime]
"""The opening and the close of a session, in UTC."""
DefaultHours = tuple[time, time, ZoneInfo]
"""The opening and the close by the exchange's own clock."""


def exchange_of(symbol: Symbol) -> str | None:
    """The name of the calendar of the symbol's exchange; None if the exchange is unknown."""
    if symbol.kind is SymbolKind.INDEX:
        return _BY_INDEX.get(symbol.name, HOME)
    _, dot, suffix = symbol.name.partition(".")
    return HOME if not dot or suffix in _CLASSES else _BY_SUFFIX.get(suffix)


def hours_on(exchange: str | None, day: date, default: DefaultHours) -> Hours:
    """When the exchange opens and closes on that day; at the default hours if its calendar does not contain the day."""
    calendar_hours = None if exchange is None else _hours_of_year(exchange, day.year).get(day)
    if calendar_hours is not None:
        return calendar_hours
    opens, closes, zone = default
    return tuple(datetime.combine(day, time_of_day, zone).astimezone(UTC) for time_of_day in (opens, closes))  # pyright: ignore[reportReturnType]


@lru_cache(maxsize=512)
def _hours_of_year(exchange: str, year: int) -> Mapping[date, Hours]:
    import pandas_market_calendars

    schedule: Any = pandas_market_calendars.get_calendar(exchange).schedule(date(year, 1, 1), date(year, 12, 31))
    return {
        index.date(): (opens.to_pydatetime().astimezone(UTC), closes.to_pydatetime().astimezone(UTC))
        for index, opens, closes in zip(schedule.index, schedule.market_open, schedule.market_close, strict=True)
    }
