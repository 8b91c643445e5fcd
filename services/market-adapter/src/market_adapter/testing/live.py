"""Yahoo and Kraken as scripted servers on loopback, for the real yfinance and ccxt."""

import json
import math
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from aiohttp import web
from aiohttp.test_utils import TestServer
from curl_cffi import requests

from contracts.symbols import parse_symbol
from contracts.tools_rpc import Caller, ToolServiceRequest
from market_adapter.adapters.crypto_exchange import CryptoExchange
from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.adapters.yahoo import Yahoo
from market_adapter.errors import MarketError
from runtime.clock import SystemClock

NOW = datetime(2026, 3, 4, 18, 0, tzinfo=UTC)  # a Wednesday, in the session
NEW_YORK = ZoneInfo("America/New_York")
SESSIONS = [day for days in range(400, -1, -1) if (day := NOW.date() - timedelta(days=days)).weekday() < 5]
SPLIT, PAID = SESSIONS[-5], SESSIONS[-9]
ACME, BTC, ETF = parse_symbol("ACME"), parse_symbol("BTC/USD"), parse_symbol("BRK.B")


class StoppedClock(SystemClock):
    """A clock that always shows NOW; pauses are real."""

    def now(self) -> datetime:
        return NOW


class ReroutedSession(requests.Session[Any]):
    """A session that sends every request to the scripted server, whatever its host."""

    def __init__(self, base: str) -> None:
        super().__init__()
        self._base = base

    def request(self, method: Any, url: str, *args: Any, **kwargs: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        path = url.split("://", 1)[1].partition("/")[2]
        return super().request(method, f"{self._base}/{path}", *args, **kwargs)  # pyright: ignore[reportUnknownMemberType]


NOT_FOUND: dict[str, Any] = {
    "chart": {"result": None, "error": {"code": "Not Found", "description": "No data found, symbol may be delisted"}}
}


ZONES = {"L": "Europe/London", "HK": "Asia/Hong_Kong"}


class Script:
    """The scripted servers: their answers, and the requests that they got."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = 200
        self.broken = False
        self.headers: dict[str, str] = {}
        self.bad: set[str] = set()
        self.traded = NOW
        self.base = ""
        self.instead: tuple[str, str] = ("", "")
        """A text in an answer's JSON, and its replacement."""

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(request.path)
        if request.path == "/v1/test/getcrumb":
            return web.Response(text="crumb")
        if self.status != 200:
            return web.json_response(NOT_FOUND, status=self.status, headers=self.headers)
        if self.broken:
            return web.Response(text="<html>maintenance</html>", content_type="text/html")
        if request.path.startswith("/v8/finance/chart/"):
            name = request.match_info["tail"].rsplit("/", 1)[1]
            if name in self.bad:
                return web.Response(status=500)
            answer = chart(name, request.query["interval"])
            if answer is not NOT_FOUND:
                metadata = answer["chart"]["result"][0]["meta"]
                metadata["regularMarketTime"] = int(self.traded.timestamp())
                metadata["exchangeTimezoneName"] = ZONES.get(name.partition(".")[2], "America/New_York")
            return self._json(answer)
        if request.path.startswith("/v10/finance/quoteSummary/"):
            return self._json(SUMMARY)
        if request.path.startswith("/v7/finance/quote"):
            return web.json_response(
                {"quoteResponse": {"result": [{"quoteType": "EQUITY", "symbol": "ACME"}], "error": None}}
            )
        if request.path.startswith("/xhr/ncp"):
            return web.json_response(NEWS)
        return self._json(KRAKEN.get(request.path.rsplit("/", 1)[1], {}))

    def _json(self, answer: dict[str, Any]) -> web.Response:
        return web.json_response(text=json.dumps(answer).replace(*self.instead))


def stamp(day: date, hour: int = 9, minute: int = 30) -> int:
    return int(datetime(day.year, day.month, day.day, hour, minute, tzinfo=NEW_YORK).timestamp())


def chart(name: str, interval: str) -> dict[str, Any]:
    """A chart like Yahoo's: adjusted for the 2:1 split, with a gap."""
    if name == "GONE":
        return NOT_FOUND
    if interval == "1d":
        times = [stamp(day) for day in SESSIONS]
    else:
        hours = [(day, 9 + hour) for day in SESSIONS[-30:] for hour in range(7)]
        times = [stamp(day, hour) for day, hour in hours if stamp(day, hour) <= NOW.timestamp()]
    closes: list[float | None] = [50 + 5 * math.sin(n / 9) for n in range(len(times))]
    closes[-1] = 52.0
    closes[-2] = 50.0
    closes[-20] = None
    events = {
        "splits": {"1": {"date": stamp(SPLIT), "numerator": 2, "denominator": 1, "splitRatio": "2:1"}},
        "dividends": {"1": {"date": stamp(PAID), "amount": 0.25}},
    }
    quote = {
        "open": closes,
        "high": [close and close + 1 for close in closes], "low": [close and close - 1 for close in closes],
        "close": closes, "volume": [None if close is None else 1000 for close in closes],
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
            [HOURS[0] - 3600, None, "NaN", "0", "-1", "100.0", "0.25", 5],  # a hole
            *([HOURS[0] - 1800, "100.0", "110.0", "90.0", "100.0", "100.0", volume, 5] for volume in ("NaN", "-1")),
            *([at, "100.0", "110.0", "90.0", f"{100 + n}.0", "100.0", "0.25", 5] for n, at in enumerate(HOURS))
        ],
        "last": HOURS[-1],
    }},
}  # fmt: skip


@asynccontextmanager
async def scripted() -> AsyncGenerator[tuple[Script, LiveProvider]]:
    """Runs the servers; yields their script and a provider that asks them."""
    script = Script()
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", script.answer)
    async with TestServer(app) as server:
        script.base = str(server.make_url("")).rstrip("/")
        live, close = provider_at(script.base)
        yield script, live
        await close()


def provider_at(base: str) -> tuple[LiveProvider, Callable[[], Awaitable[None]]]:
    """A live provider that sends every request to this address, and a function that closes it."""
    yahoo = Yahoo(ReroutedSession(base))
    exchange = CryptoExchange("kraken", {"urls": {"api": {"public": base, "private": base}}})

    async def close() -> None:
        yahoo.close()
        await exchange.close()

    return LiveProvider(yahoo, exchange, StoppedClock()), close


def request(tool: str, **arguments: Any) -> ToolServiceRequest:
    caller = Caller(company_id="demo", user_id="u1", role="user", plan="premium", language="en")
    return ToolServiceRequest(call_id="c", tool=tool, arguments=arguments, caller=caller)


async def reason(answer: Awaitable[object]) -> str:
    """The reason of the MarketError with which an answer fails."""
    try:
        await answer
    except MarketError as error:
        return error.reason
    raise AssertionError("it has not failed")
