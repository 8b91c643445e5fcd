"""The live provider against scripted servers on loopback, through the real yfinance and ccxt."""

from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from contracts.symbols import parse_symbol
from contracts.tools.market import Indicator, Timeframe
from market_adapter.adapters.crypto_exchange import CryptoExchange
from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.adapters.yahoo import Yahoo
from market_adapter.domain.indicators import indicator
from market_adapter.domain.series import series_of
from market_adapter.testing.live import (
    ACME,
    BTC,
    ETF,
    NEW_YORK,
    NOW,
    PAID,
    SESSIONS,
    SPLIT,
    ReroutedSession,
    Script,
    reason,
)
from runtime.clock import SystemClock


async def test_a_stocks_price_is_against_the_session_before(live: LiveProvider) -> None:
    quote = await live.quote(ACME)
    assert (quote.price, quote.change, quote.change_percent) == (52, 2, 4)
    assert (quote.source, quote.currency, quote.change_basis.value, quote.as_of) == (
        "yahoo",
        "USD",
        "previous_close",
        NOW,
    )


async def test_bars_are_turned_back_into_what_was_traded_and_holes_left_out(live: LiveProvider) -> None:
    history = await live.daily_history(ACME, 500)
    assert len(history.bars) == len(SESSIONS) - 1
    before = next(bar for bar in reversed(history.bars) if bar.session < SPLIT)
    assert (before.close > 80, before.volume) == (True, 500)
    assert [(split.on, split.ratio) for split in history.splits] == [(SPLIT, 2)]
    assert [(dividend.on, dividend.amount) for dividend in history.dividends] == [(PAID, Decimal("0.5"))]
    found = series_of(history)
    assert found.close.max() < 60
    assert indicator(Indicator.RSI, found)["value"] is not None


async def test_all_timeframes_of_a_stock(live: LiveProvider) -> None:
    for timeframe in Timeframe:
        bars = (await live.bars(ACME, timeframe, 10)).bars
        assert 0 < len(bars) <= 10
        assert all(bar.time < bar.end and bar.low <= bar.close <= bar.high for bar in bars)
    blocks = (await live.bars(ACME, Timeframe.H4, 4)).bars
    local = {bar.time.astimezone(NEW_YORK).strftime("%H:%M") for bar in blocks}
    assert local <= {"09:00", "09:30", "13:00", "13:30", "14:00"}


async def test_only_closed_bars_are_new_to_an_order(live: LiveProvider) -> None:
    found = await live.bars_since(ACME, NOW - timedelta(days=3))
    assert found is not None
    assert all(bar.time >= NOW - timedelta(days=3) and bar.end <= NOW for bar in found.bars)
    assert await live.bars_since(ACME, NOW) is None


async def test_a_companys_figures_dates_and_headlines(live: LiveProvider) -> None:
    found = await live.fundamentals(ACME)
    assert (found.pe, found.eps, found.beta, found.dividend_yield) == tuple(
        map(Decimal, ("20.5", "2.5", "1.1", "0.012"))
    )
    assert (found.source, found.as_of) == ("yahoo", NOW)
    events = await live.events(ACME, NOW.date() + timedelta(days=90))
    assert [(event.kind.value, event.on) for event in events] == [
        ("dividend", date(2026, 3, 20)), ("earnings", date(2026, 4, 20)),
    ]  # fmt: skip
    (headline,) = await live.headlines(ACME, 5)
    assert (headline.title, headline.publisher, headline.url) == ("ACME profit falls", "Wire", "https://wire.example/1")


async def test_a_pairs_change_is_over_a_day(live: LiveProvider) -> None:
    quote = await live.quote(BTC)
    assert (quote.price, quote.change_basis.value, quote.currency, quote.source) == (160, "24h", "USD", "kraken")
    assert quote.basis_price == 135  # the last bar that closed 24 hours ago or earlier
    assert len((await live.bars(BTC, Timeframe.M5, 7)).bars) == 7


async def test_what_a_source_does_not_have_is_said_and_nobody_stands_in(live: LiveProvider, script: Script) -> None:
    assert await reason(live.quote(parse_symbol("DOGE/USD"))) == "no_data"
    assert await reason(live.quote(parse_symbol("BTC/USDT"))) == "no_data"
    assert not any("chart" in path for path in script.asked)
    assert await reason(live.quote(parse_symbol("GONE"))) == "no_data"
    assert await reason(live.fundamentals(BTC)) == "no_data"


async def test_an_exchange_that_nobody_knows_is_a_setting_to_correct() -> None:
    exchange = CryptoExchange("nonesuch")
    await exchange.load()
    assert await reason(exchange.bars(BTC, Timeframe.H1, 5)) == "not_configured"


@pytest.mark.parametrize(("status", "wanted"), [(429, "rate_limited"), (404, "no_data")])
async def test_refusals_are_told_apart(live: LiveProvider, script: Script, status: int, wanted: str) -> None:
    script.status = status
    assert await reason(live.quote(ACME)) == wanted


async def test_one_question_serves_all_who_ask_within_its_time(live: LiveProvider, script: Script) -> None:
    for _ in range(3):
        await live.quote(ACME)
    before = len(script.asked)
    await live.quote(ACME)
    assert len(script.asked) == before


async def test_a_share_class_is_spelled_their_way(live: LiveProvider, script: Script) -> None:
    assert (await live.quote(ETF)).symbol.name == "BRK.B"
    assert any(path.endswith("/BRK-B") for path in script.asked)


async def test_a_price_that_is_too_old_is_no_price(script: Script) -> None:
    class Later(SystemClock):
        def now(self) -> datetime:
            return NOW + timedelta(days=30)

    late = LiveProvider(Yahoo(ReroutedSession(script.base)), CryptoExchange("kraken"), Later())
    assert await reason(late.quote(ACME)) == "stale"
