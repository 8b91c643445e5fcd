"""Reads the sample data's files and checks them once, at the start (data/SOURCE.md names their sources)."""

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from zoneinfo import ZoneInfo

from market_adapter.domain.bars import Bar, Dividend, Split

SOURCE = "sample"
NEW_YORK = ZoneInfo("America/New_York")
OPENS = time(9, 30)
CLOSES = time(16, 0)


@dataclass(frozen=True, slots=True)
class SampleSeries:
    """One ticker: its bars as traded, without gaps from the session with index `first` to the last session."""

    ticker: str
    first: int
    bars: tuple[Bar, ...]
    splits: tuple[Split, ...]
    dividends: tuple[Dividend, ...]
    source: str = SOURCE
    """The source that its answers name."""


@dataclass(frozen=True, slots=True)
class SampleData:
    """The whole sample. `sessions` are the exchange's trading days in order, `closes` their closing times (UTC)."""

    sessions: tuple[date, ...]
    closes: tuple[datetime, ...]
    series: Mapping[str, SampleSeries]


@cache
def load_sample() -> SampleData:
    """Reads the packaged files, once; raises ValueError, which names the file, if one is malformed."""
    root = files("market_adapter") / "data"
    early = {
        date.fromisoformat(row["date"]): time.fromisoformat(row["close"]) for row in _rows(root / "early_closes.csv")
    }
    tables = {
        item.name.removesuffix(".csv"): list(_rows(item))
        for item in sorted((root / "bars").iterdir(), key=lambda item: item.name)
    }
    days = sorted({row["date"] for rows in tables.values() for row in rows})
    hours = {day: _hours(date.fromisoformat(day), early) for day in days}
    splits: dict[str, list[Split]] = {ticker: [] for ticker in tables}
    dividends: dict[str, list[Dividend]] = {ticker: [] for ticker in tables}
    for row in _rows(root / "actions.csv"):
        action_day = date.fromisoformat(row["date"])
        if row["kind"] == "split":
            splits[row["ticker"]].append(Split(action_day, Fraction(row["value"])))
        else:
            dividends[row["ticker"]].append(Dividend(action_day, Decimal(row["value"])))
    series: dict[str, SampleSeries] = {}
    for ticker, rows in tables.items():
        first = len(days) - len(rows)
        if [row["date"] for row in rows] != days[first:]:
            raise ValueError(f"data/bars/{ticker}.csv: sessions are missing, out of order or twice")
        bars = tuple(_bar(row, *hours[row["date"]]) for row in rows)
        series[ticker] = SampleSeries(ticker, first, bars, tuple(splits[ticker]), tuple(dividends[ticker]))
    return SampleData(tuple(date.fromisoformat(day) for day in days), tuple(hours[day][1] for day in days), series)


def load_following() -> Mapping[date, time | None]:
    """The weekdays after the recorded sessions on which the exchange closes early (the time) or does not open
    (None)."""
    rows = _rows(files("market_adapter") / "data" / "following.csv")
    return {date.fromisoformat(row["date"]): time.fromisoformat(row["close"]) if row["close"] else None for row in rows}


def utc(day: date, time_of_day: time) -> datetime:
    """The UTC time of a time of day in New York."""
    return datetime.combine(day, time_of_day, NEW_YORK).astimezone(UTC)


def _rows(file: Traversable) -> Iterator[dict[str, str]]:
    return csv.DictReader(file.read_text(encoding="utf-8").splitlines())


def _hours(day: date, early: Mapping[date, time]) -> tuple[datetime, datetime]:
    return utc(day, OPENS), utc(day, early.get(day, CLOSES))


def _bar(row: dict[str, str], opens: datetime, closes: datetime) -> Bar:
    return Bar(
        session=date.fromisoformat(row["date"]),
        time=opens,
        end=closes,
        open=Decimal(row["open"]),
        high=Decimal(row["high"]),
        low=Decimal(row["low"]),
        close=Decimal(row["close"]),
        volume=int(row["volume"]),
    )
