"""Prices: what they are measured against, over splits too, and never from the future."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from contracts.market_rpc import TickerError
from contracts.symbols import parse_symbol
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import SampleData, load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.domain.quotes import ChangeBasis
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.errors import NotInSampleError
from market_adapter.tools.prices import price_data


@pytest.fixture(scope="module")
def sample() -> SampleData:
    return load_sample()


def provider(sample: SampleData, session: date | None = None) -> SampleProvider:
    """The sample market at the close of a session; of the last one when none is given."""
    clock = SampleClock(sample.sessions, sample.closes, at_end=True)
    if session is not None:
        clock.index = sample.sessions.index(session)
    return SampleProvider(sample, load_facts(), clock)


async def test_the_price_is_the_last_close_with_its_date_and_source(sample: SampleData) -> None:
    quote = await provider(sample).quote(parse_symbol("aapl"))
    assert price_data(quote).model_dump(mode="json") == {
        "symbol": "AAPL",
        "price": 430.47,
        "change": -10.93,
        "change_percent": -2.4762,
        "change_basis": "previous_close",
        "volume": 19730300,
        "currency": "USD",
        "as_of": "2013-03-01T21:00:00Z",
        "source": "sample",
    }


async def test_the_change_over_a_split_is_measured_in_new_shares(sample: SampleData) -> None:
    # 101.25 before and 55.63 after a split of 2 for 1: a rise, not a fall by half.
    quote = await provider(sample, date(2000, 6, 21)).quote(parse_symbol("AAPL"))
    assert quote.basis_price == Decimal("50.625")
    assert quote.change == Decimal("5.005")
    assert quote.change_percent == Decimal("9.8864")
    assert quote.price == Decimal("55.63")


async def test_the_first_day_of_trading_has_no_change(sample: SampleData) -> None:
    quote = await provider(sample, date(2012, 5, 18)).quote(parse_symbol("FB"))
    assert quote.change_basis is ChangeBasis.NONE
    assert price_data(quote).change is None
    assert price_data(quote).change_percent is None


async def test_before_its_first_bar_a_symbol_is_not_in_the_sample(sample: SampleData) -> None:
    with pytest.raises(NotInSampleError, match="2012-05-18"):
        await provider(sample, date(2012, 5, 17)).quote(parse_symbol("FB"))


@pytest.mark.parametrize("text", ["TSLA", "BTC/USD", "^GSPC", "BRK.B"])
async def test_what_the_sample_has_not_is_said_and_never_made_up(sample: SampleData, text: str) -> None:
    with pytest.raises(NotInSampleError, match="which holds AAPL, FB, GOOG, IBM, MSFT") as raised:
        await provider(sample).quote(parse_symbol(text))
    entry = TickerError(error=str(raised.value), ticker=text, reason="not_in_sample")
    assert raised.value.as_entry("en") == entry


async def test_nothing_after_the_clock_is_shown(sample: SampleData) -> None:
    # The split of 2005 and the bars after this day are the future here.
    market = provider(sample, date(2005, 2, 25))
    history = await market.daily_history(parse_symbol("AAPL"), 5000)
    assert history.last.session == date(2005, 2, 25)
    assert [split.on for split in history.splits] == [date(2000, 6, 21)]
    assert all(dividend.on <= date(2005, 2, 25) for dividend in history.dividends)
    assert (await market.quote(parse_symbol("AAPL"))).as_of == datetime(2005, 2, 25, 21, tzinfo=UTC)


async def test_a_history_has_as_many_bars_as_asked_for_or_all_there_are(sample: SampleData) -> None:
    market = provider(sample)
    assert len((await market.daily_history(parse_symbol("FB"), 50)).bars) == 50
    assert len((await market.daily_history(parse_symbol("FB"), 500)).bars) == 196
