"""Make `data/following.csv` anew: when New York's exchange keeps other hours than usual after the recorded sessions.

A row is a weekday, from the last recorded session to the end of 2199: with no time the exchange is closed, else it
closes then. By pandas_market_calendars, whose rules for the future are today's.
"""

import csv
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pandas_market_calendars

DATA = Path(__file__).parent.parent / "src" / "market_adapter" / "data"
FIRST, LAST = date(2013, 3, 2), date(2199, 12, 31)
USUAL = "16:00"
FRIDAY = 4


def main() -> None:
    """Write the file."""
    schedule: Any = pandas_market_calendars.get_calendar("NYSE").schedule(FIRST, LAST)
    closes: dict[date, str] = {
        index.date(): close.tz_convert("America/New_York").strftime("%H:%M")
        for index, close in schedule["market_close"].items()
    }
    days = [FIRST + timedelta(days=n) for n in range((LAST - FIRST).days + 1)]
    with (DATA / "following.csv").open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(("date", "close"))
        for day in days:
            if day.weekday() <= FRIDAY and (close := closes.get(day, "")) != USUAL:
                out.writerow((day, close))


if __name__ == "__main__":
    main()
