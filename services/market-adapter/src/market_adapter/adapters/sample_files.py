"""Reads the sample data's files and checks them once at start-up (data/SOURCE.md says where they come from)."""

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
    """One ticker: its bars as traded, from session number `first` to the last session without a hole."""

    ticker: str
    first: int
    bars: tuple[Bar, ...]
    splits: tuple[Split, ...]
    dividends: tuple[Dividend, ...]
    source: str = SOURCE
    """The source that its answers name."""


@dataclass(frozen=True, slots=True)
class SampleData:
    """All of it. `sessions` are the exchange's trading days in order, `closes` when they ended (UTC)."""

    sessions: tuple[date, ...]
    closes: tuple[datetime, ...]
    series: Mapping[str, SampleSeries]


@cache
def load_sample() -> SampleData:
    """The packaged files, read once; raises ValueError naming the file when one does not hold what it should."""
    root = files("market_adapter") / "data"
    early = {date.fromisoformat(r["date"]): time.fromisoformat(r["close"]) for r in _rows(root / "early_closes.csv")}
    tables = {
        item.name.removesuffix(".csv"): list(_rows(item))
        for item in sorted((root / "bars").iterdir(), key=lambda item: item.name)
    }
    days = sorted({row["date"] for rows in tables.values() for row in rows})
    hours = {day: _hours(date.fromisoformat(day), early) for day in days}
    splits: dict[str, list[Split]] = {ticker: [] for ticker in tables}
    dividends: dict[str, list[Dividend]] = {ticker: [] for ticker in tables}
    for row in _rows(root / "actions.csv"):
        on = date.fromisoformat(row["date"])
        if row["kind"] == "split":
            splits[row["ticker"]].append(Split(on, Fraction(row["value"])))
        else:
            dividends[row["ticker"]].append(Dividend(on, Decimal(row["value"])))
    series: dict[str, SampleSeries] = {}
    for ticker, rows in tables.items():
        first = len(days) - len(rows)
        if [row["date"] for row in rows] != days[first:]:
            raise ValueError(f"data/bars/{ticker}.csv: sessions are missing, out of order or twice")
        bars = tuple(_bar(row, *hours[row["date"]]) for row in rows)
        series[ticker] = SampleSeries(ticker, first, bars, tuple(splits[ticker]), tuple(dividends[ticker]))
    return SampleData(tuple(date.fromisoformat(day) for day in days), tuple(hours[day][1] for day in days), series)


def load_following() -> Mapping[date, time | None]:
    """The weekdays after the recorded sessions on which the exchange closes early, or (None) does not open."""
    rows = _rows(files("market_adapter") / "data" / "following.csv")
    return {date.fromisoformat(row["date"]): time.fromisoformat(row["close"]) if row["close"] else None for row in rows}


def utc(day: date, at: time) -> datetime:
    """A time of New York's clocks."""
    return datetime.combine(day, at, NEW_YORK).astimezone(UTC)


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
