"""The packaged data: complete, in order, and with the splits where history had them."""

import csv
from datetime import UTC, date, datetime, time
from decimal import Decimal
from fractions import Fraction
from importlib.resources import files
from itertools import pairwise

import pytest

from contracts.symbols import parse_symbol
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import SampleData, load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.domain.bars import Split
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.domain.splits import split_adjusted
from market_adapter.errors import NotInSampleError


@pytest.fixture(scope="module")
def sample() -> SampleData:
    return load_sample()


def test_each_ticker_has_every_session_since_its_first(sample: SampleData) -> None:
    held = {
        ticker: (len(series.bars), series.bars[0].session, series.bars[-1].session)
        for ticker, series in sample.series.items()
    }
    end = date(2013, 3, 1)
    assert held == {
        "AAPL": (3270, date(2000, 3, 1), end),
        "FB": (196, date(2012, 5, 18), end),
        "GOOG": (2148, date(2004, 8, 19), end),
        "IBM": (3270, date(2000, 3, 1), end),
        "MSFT": (3270, date(2000, 3, 1), end),
    }
    assert len(sample.sessions) == 3270
    for series in sample.series.values():
        assert tuple(bar.session for bar in series.bars) == sample.sessions[series.first :]


def test_sessions_are_in_order_and_on_weekdays(sample: SampleData) -> None:
    assert all(before < after for before, after in pairwise(sample.sessions))
    assert all(session.weekday() < 5 for session in sample.sessions)


def test_every_figure_is_a_positive_number_and_lies_in_its_bar(sample: SampleData) -> None:
    for series in sample.series.values():
        for bar in series.bars:
            assert all(price.is_finite() and price > 0 for price in (bar.open, bar.high, bar.low, bar.close))
            assert bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high
            assert bar.volume > 0
            assert bar.time < bar.end


def test_the_splits_are_those_of_history(sample: SampleData) -> None:
    assert {ticker: series.splits for ticker, series in sample.series.items() if series.splits} == {
        "AAPL": (Split(date(2000, 6, 21), Fraction(2)), Split(date(2005, 2, 28), Fraction(2))),
        "MSFT": (Split(date(2003, 2, 18), Fraction(2)),),
    }


def test_adjusted_prices_have_no_jump_at_a_split_and_keep_the_real_crash(sample: SampleData) -> None:
    for ticker, crashes in {"AAPL": [date(2000, 9, 29)], "MSFT": []}.items():
        series = sample.series[ticker]
        bars = split_adjusted(series.bars, series.splits)
        falls = [after.session for before, after in pairwise(bars) if after.close < before.close * Decimal("0.75")]
        assert falls == crashes


def test_dividends_are_those_of_history(sample: SampleData) -> None:
    apple = [(dividend.on, dividend.amount) for dividend in sample.series["AAPL"].dividends]
    assert apple == [
        (date(2012, 8, 9), Decimal("2.65")),
        (date(2012, 11, 7), Decimal("2.65")),
        (date(2013, 2, 7), Decimal("2.65")),
    ]
    # Microsoft's special dividend of 3.00 went out with the ordinary one of 0.08.
    assert (date(2004, 11, 15), Decimal("3.08")) in [(d.on, d.amount) for d in sample.series["MSFT"].dividends]
    assert [len(sample.series[ticker].dividends) for ticker in ("IBM", "MSFT", "GOOG", "FB")] == [52, 37, 0, 0]


def test_a_session_closes_at_16_in_new_york_or_early(sample: SampleData) -> None:
    closes = dict(zip(sample.sessions, sample.closes, strict=True))
    assert closes[date(2013, 3, 1)] == datetime(2013, 3, 1, 21, 0, tzinfo=UTC)
    assert closes[date(2012, 7, 2)] == datetime(2012, 7, 2, 20, 0, tzinfo=UTC)
    assert closes[date(2012, 11, 23)] == datetime(2012, 11, 23, 18, 0, tzinfo=UTC)


def test_early_closes_are_sessions_of_the_data(sample: SampleData) -> None:
    text = (files("market_adapter") / "data" / "early_closes.csv").read_text(encoding="utf-8")
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == 30
    assert all(date.fromisoformat(row["date"]) in sample.sessions for row in rows)
    assert all(time(12) < time.fromisoformat(row["close"]) < time(16) for row in rows)


def test_every_file_is_named_with_its_source(sample: SampleData) -> None:
    source = (files("market_adapter") / "data" / "SOURCE.md").read_text(encoding="utf-8")
    for name in (*(f"| {ticker} |" for ticker in sample.series), "actions.csv", "early_closes.csv", "public domain"):
        assert name in source


async def test_with_no_headline_yet_it_says_so(sample: SampleData) -> None:
    clock = SampleClock(sample.sessions[:100], sample.closes[:100])
    with pytest.raises(NotInSampleError, match="no headlines of IBM"):
        await SampleProvider(sample, load_facts(), clock).headlines(parse_symbol("IBM"), 5)
