"""What other services ask for a prompt: status, events, quotes."""

from datetime import UTC, date, datetime

import pytest

from contracts.market_rpc import MarketEventsRequest, MarketStatusRequest, QuotesRequest
from market_adapter.adapters.exchange_calendar import new_york_state
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.context import MarketContext
from market_adapter.domain.sample_clock import SampleClock

SAMPLE = load_sample()
CLOCK = SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True)
CONTEXT = MarketContext(SampleProvider(SAMPLE, load_facts(), CLOCK))


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(("moment", "status", "next_open", "next_close", "early"), [
    ("2013-03-04 14:29", "pre_market", "2013-03-04 14:30", "2013-03-04 21:00", False),
    ("2013-03-04 14:30", "open", "2013-03-05 14:30", "2013-03-04 21:00", False),
    ("2013-03-04 21:00", "after_hours", "2013-03-05 14:30", "2013-03-05 21:00", False),
    ("2013-03-05 01:00", "closed", "2013-03-05 14:30", "2013-03-05 21:00", False),
    ("2013-03-09 12:00", "closed", "2013-03-11 13:30", "2013-03-11 20:00", False),  # a weekend with a change of clocks
    ("2012-11-22 15:00", "closed", "2012-11-23 14:30", "2012-11-23 18:00", True),  # Thanksgiving, then an early close
    ("2012-11-23 18:00", "after_hours", "2012-11-26 14:30", "2012-11-26 21:00", False),
    ("2012-10-29 15:00", "closed", "2012-10-31 13:30", "2012-10-31 20:00", False),  # Hurricane Sandy
    ("2001-09-11 15:00", "closed", "2001-09-17 13:33", "2001-09-17 20:00", False),  # three minutes of silence
    ("2026-12-25 15:00", "closed", "2026-12-28 14:30", "2026-12-28 21:00", False),
])  # fmt: skip
async def test_the_market_keeps_its_hours_and_holidays(
    moment: str, status: str, next_open: str, next_close: str, early: bool
) -> None:
    state = await new_york_state(at(moment))
    assert state.status.value == status
    assert (state.next_open, state.next_close) == (at(next_open), at(next_close))
    assert state.early_close is early


async def test_every_recorded_session_is_one_of_the_calendar() -> None:
    for close in SAMPLE.closes[-40:]:
        assert (await new_york_state(close)).status.value == "after_hours"


async def test_the_status_lists_what_there_is_unless_it_is_much(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (await CONTEXT.status(MarketStatusRequest())).symbols == ["AAPL", "FB", "GOOG", "IBM", "MSFT"]
    monkeypatch.setattr("market_adapter.context.MAX_LISTED_SYMBOLS", 4)
    assert (await CONTEXT.status(MarketStatusRequest())).symbols == []


async def test_the_status_is_the_sample_clocks() -> None:
    found = await CONTEXT.status(MarketStatusRequest())
    assert (found.status, found.current_time, found.source) == ("after_hours", at("2013-03-01 21:00"), "sample")


async def test_events_are_known_ones_ahead_in_order() -> None:
    found = await CONTEXT.events(MarketEventsRequest(symbols=["AAPL", "ibm", "TSLA"], days=60))
    days = [event.date for event in found.events]
    assert days == sorted(days)
    assert min(days) > date(2013, 3, 1)
    assert [(event.symbol, event.status) for event in found.events if event.kind == "earnings"] == [
        ("IBM", "expected"), ("AAPL", "expected"),
    ]  # fmt: skip
    assert {event.name for event in found.events if event.kind == "economy"} == {
        "FOMC rate decision", "US employment report",
    }  # fmt: skip
    assert [(error.ticker, error.reason) for error in found.errors] == [("TSLA", "not_in_sample")]
    assert all(event.source for event in found.events)


async def test_quotes_come_together_without_repeats_and_without_inventions() -> None:
    found = await CONTEXT.quotes(QuotesRequest(symbols=["aapl", "$AAPL", "BTC", "IBM"]))
    assert [(quote.symbol, quote.price) for quote in found.quotes] == [("AAPL", 430.47), ("IBM", 202.91)]
    assert [error.reason for error in found.errors] == ["not_in_sample"]
