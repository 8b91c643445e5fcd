"""The live provider against scripted servers on loopback, through the real yfinance and ccxt."""

import math
from collections.abc import AsyncIterator
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from curl_cffi import requests

from contracts.symbols import parse_symbol
from market_adapter.adapters.crypto_exchange import CryptoExchange
from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.adapters.yahoo import Yahoo
from market_adapter.domain.indicators import Indicator, indicator
from market_adapter.domain.series import series_of
from market_adapter.domain.timeframes import Timeframe
from market_adapter.errors import MarketError
from runtime.clock import SystemClock

NOW = datetime(2026, 3, 4, 18, 0, tzinfo=UTC)  # a Wednesday, in the session
NEW_YORK = ZoneInfo("America/New_York")
SESSIONS = [day for n in range(400, -1, -1) if (day := NOW.date() - timedelta(days=n)).weekday() < 5]
SPLIT = SESSIONS[-5]
ACME, BTC, ETF = parse_symbol("ACME"), parse_symbol("BTC/USD"), parse_symbol("BRK.B")


class StillClock(SystemClock):
    """It is always NOW; pauses are real."""

    def now(self) -> datetime:
        return NOW


class Rerouted(requests.Session[Any]):
    """A session whose every request ends at the scripted server, whatever host it was meant for."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def request(self, method: Any, url: str, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        path = url.split("://", 1)[1].partition("/")[2]
        return super().request(method, f"{self._base}/{path}", *args, **kwargs)  # pyright: ignore[reportUnknownMemberType]


NOT_FOUND: dict[str, Any] = {
    "chart": {"result": None, "error": {"code": "Not Found", "description": "No data found, symbol may be delisted"}}
}


class Script:
    """The scripted servers: what they answer, and what they were asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        self.broken = False
        self.base = ""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.path == "/v1/test/getcrumb":
            return web.Response(text="crumb")
        if self.status != 200:
            return web.json_response(NOT_FOUND, status=self.status)
        if self.broken:
            return web.Response(text="<html>maintenance</html>", content_type="text/html")
        if request.path.startswith("/v8/finance/chart/"):
            return web.json_response(chart(request.match_info["tail"].rsplit("/", 1)[1], request.query["interval"]))
        if request.path.startswith("/v10/finance/quoteSummary/"):
            return web.json_response(SUMMARY)
        if request.path.startswith("/v7/finance/quote"):
            return web.json_response(
                {"quoteResponse": {"result": [{"quoteType": "EQUITY", "symbol": "ACME"}], "error": None}}
            )
        if request.path.startswith("/xhr/ncp"):
            return web.json_response(NEWS)
        return web.json_response(KRAKEN.get(request.path.rsplit("/", 1)[1], {}))


def stamp(day: date, hour: int = 9, minute: int = 30) -> int:
    return int(datetime(day.year, day.month, day.day, hour, minute, tzinfo=NEW_YORK).timestamp())


def chart(name: str, interval: str) -> dict[str, Any]:
    """As Yahoo has it: adjusted for the 2:1 split, with a hole."""
    if name == "GONE":
        return NOT_FOUND
    if interval == "1d":
        times = [stamp(day) for day in SESSIONS]
    else:
        hours = [(day, 9 + n) for day in SESSIONS[-30:] for n in range(7)]
        times = [stamp(day, hour) for day, hour in hours if stamp(day, hour) <= NOW.timestamp()]
    closes: list[float | None] = [50 + 5 * math.sin(n / 9) for n in range(len(times))]
    closes[-1] = 52.0
    closes[-2] = 50.0
    closes[-20] = None
    events = {"splits": {"1": {"date": stamp(SPLIT), "numerator": 2, "denominator": 1, "splitRatio": "2:1"}}}
    quote = {
        "open": closes, "high": [one and one + 1 for one in closes], "low": [one and one - 1 for one in closes],
        "close": closes, "volume": [None if one is None else 1000 for one in closes],
    }  # fmt: skip
    period = {"timezone": "EST", "gmtoffset": -18000, "start": stamp(SESSIONS[-1]), "end": stamp(SESSIONS[-1], 16, 0)}
    meta: dict[str, Any] = {
        "currency": "USD", "symbol": name, "exchangeTimezoneName": "America/New_York", "timezone": "EST",
        "instrumentType": "EQUITY", "regularMarketPrice": 52.0, "dataGranularity": interval, "gmtoffset": -18000,
        "firstTradeDate": stamp(SESSIONS[0]), "regularMarketTime": int(NOW.timestamp()), "priceHint": 2,
        "validRanges": ["1d", "5d", "1mo", "1y", "5y", "max"],
        "currentTradingPeriod": {"pre": period, "regular": period, "post": period},
    }  # fmt: skip
    if interval != "1d":
        days = SESSIONS[-30:]
        meta["tradingPeriods"] = [[{**period, "start": stamp(day), "end": stamp(day, 16, 0)}] for day in days]
    return {
        "chart": {
            "result": [{
                "meta": meta, "timestamp": times, "events": events if interval == "1d" else {},
                "indicators": {"quote": [quote], "adjclose": [{"adjclose": closes}]},
            }],
            "error": None,
        }
    }  # fmt: skip


SUMMARY: dict[str, Any] = {
    "quoteSummary": {
        "result": [{
            "quoteType": {"quoteType": "EQUITY", "symbol": "ACME"},
            "summaryDetail": {"trailingPE": 20.5, "marketCap": 5_000_000_000, "beta": 1.1, "currency": "USD",
                              "trailingAnnualDividendYield": 0.012},
            "financialData": {"totalRevenue": 1_000_000_000, "grossMargins": 0.4, "profitMargins": 0.1,
                              "financialCurrency": "USD"},
            "defaultKeyStatistics": {"trailingEps": 2.5},
            "calendarEvents": {
                "earnings": {"earningsDate": [stamp(date(2026, 4, 20))]}, "exDividendDate": stamp(date(2026, 3, 20)),
            },
        }],
        "error": None,
    }
}  # fmt: skip
NEWS: dict[str, Any] = {
    "data": {"tickerStream": {"stream": [
        {"content": {"title": "ACME profit falls", "pubDate": "2026-03-03T12:00:00Z",
                     "provider": {"displayName": "Wire"}, "canonicalUrl": {"url": "https://wire.example/1"}}},
        {"content": {"title": "", "pubDate": "2026-03-03T12:00:00Z"}},
    ]}}
}  # fmt: skip
HOURS = [int((NOW - timedelta(hours=n)).timestamp()) for n in range(60, -1, -1)]
KRAKEN: dict[str, dict[str, Any]] = {
    "AssetPairs": {"error": [], "result": {"XXBTZUSD": {
        "altname": "XBTUSD", "wsname": "XBT/USD", "base": "XXBT", "quote": "ZUSD", "pair_decimals": 1,
        "lot_decimals": 8, "cost_decimals": 5, "lot_multiplier": 1, "leverage_buy": [], "leverage_sell": [],
        "fees": [[0, 0.25]], "fees_maker": [[0, 0.16]], "ordermin": "0.0001", "costmin": "0.5", "tick_size": "0.1",
        "status": "online",
    }}},
    "Assets": {"error": [], "result": {
        "XXBT": {"aclass": "currency", "altname": "XBT", "decimals": 10, "display_decimals": 5, "status": "enabled"},
        "ZUSD": {"aclass": "currency", "altname": "USD", "decimals": 4, "display_decimals": 2, "status": "enabled"},
    }},
    "OHLC": {"error": [], "result": {
        "XXBTZUSD": [
            [at, "100.0", "110.0", "90.0", f"{100 + n}.0", "100.0", "0.25", 5] for n, at in enumerate(HOURS)
        ],
        "last": HOURS[-1],
    }},
}  # fmt: skip


@pytest.fixture
async def script() -> AsyncIterator[Script]:
    found = Script()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", found.answer)
    async with TestServer(app) as server:
        found.base = str(server.make_url("")).rstrip("/")
        yield found


@pytest.fixture
async def live(script: Script) -> AsyncIterator[LiveProvider]:
    urls = {"api": {"public": script.base, "private": script.base}}
    exchange = CryptoExchange("kraken", {"urls": urls})
    yield LiveProvider(Yahoo(Rerouted(script.base)), exchange, StillClock())
    await exchange.close()


async def reason(answer: Any) -> str:
    with pytest.raises(MarketError) as raised:
        await answer
    return raised.value.reason


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
    assert [(one.kind.value, one.on) for one in events] == [
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

    late = LiveProvider(Yahoo(Rerouted(script.base)), CryptoExchange("kraken"), Later())
    assert await reason(late.quote(ACME)) == "stale"
