"""The sample's reports, events and headlines: small files of public facts, each with its source (data/SOURCE.md)."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time
from decimal import Decimal
from importlib.resources import files
from typing import Any

from market_adapter.adapters.sample_files import NEW_YORK
from market_adapter.domain.facts import AnnualReport, Event, EventKind, Headline

MILLION = 1_000_000
END_OF_DAY = time(23, 59)
Table = dict[str, Any]


@dataclass(frozen=True, slots=True)
class SampleFacts:
    """The sample's facts by ticker. `events` are in no order; those of the economy have no ticker."""

    reports: Mapping[str, Sequence[AnnualReport]]
    headlines: Mapping[str, Sequence[Headline]]
    events: Sequence[Event]


def load_facts() -> SampleFacts:
    """Reads the packaged files; raises KeyError or ValueError if one is malformed."""
    headlines = {ticker: tuple(_headline(*row) for row in rows) for ticker, rows in _table("headlines").items()}
    reports = {ticker: tuple(_report(row) for row in rows) for ticker, rows in _table("companies").items()}
    return SampleFacts(reports, headlines, tuple(_events(_table("events"))))


def _table(name: str) -> Table:
    return tomllib.loads((files("market_adapter") / "data" / "facts" / f"{name}.toml").read_text(encoding="utf-8"))


def _report(row: Table) -> AnnualReport:
    return AnnualReport(
        period=row["period"],
        published=row["published"],
        source=row["source"],
        revenue=Decimal(row["revenue"]) * MILLION,
        gross_profit=Decimal(row["gross_profit"]) * MILLION,
        net_income=Decimal(row["net_income"]) * MILLION,
        eps=Decimal(row["eps"]),
        shares=Decimal(row["shares"]) * MILLION,
    )


def _headline(day: date, title: str, publisher: str, url: str) -> Headline:
    published = datetime.combine(day, END_OF_DAY, NEW_YORK).astimezone(UTC)
    return Headline(title, published, publisher, url or None)


def _events(table: Table) -> list[Event]:
    events: list[Event] = []
    for ticker, published, day, fiscal_period in table["earnings"]:
        name, source = f"{ticker} results, {fiscal_period}", table["earnings_source"]
        events.append(Event(day, name, EventKind.EARNINGS, "high", published, False, source, ticker))
    for ticker, published, day, amount in table["dividends"]:
        name, source = f"{ticker} ex-dividend, {amount} USD a share", table["dividends_source"]
        events.append(Event(day, name, EventKind.DIVIDEND, "low", published, True, source, ticker))
    for name, key in (("FOMC rate decision", "fomc"), ("US employment report", "jobs")):
        for day in table[key]:
            source, published = table[f"{key}_source"], table["economy_published"]
            events.append(Event(day, name, EventKind.ECONOMY, "high", published, True, source))
    return events
