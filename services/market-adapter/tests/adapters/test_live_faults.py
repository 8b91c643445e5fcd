"""The live provider when its sources limit us, fail for one symbol, or are silent; and how old an answer says it is."""

import asyncio
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal

import pytest

from contracts.symbols import parse_symbol
from contracts.tools.market import Timeframe
from market_adapter.adapters.guard import TIMEOUT_SECONDS
from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.errors import ImplausibleError
from market_adapter.handlers import market_tools
from market_adapter.testing.live import ACME, BTC, NOW, Script, provider_at, reason, request
from runtime.errors import RpcError


@pytest.mark.parametrize("told", [{"Retry-After": "120"}, {}])
async def test_a_source_that_wants_us_to_wait_is_not_asked_again(
    live: LiveProvider, script: Script, told: dict[str, str]
) -> None:
    script.status, script.headers = 429, told
    assert await reason(live.quote(ACME)) == "rate_limited"
    asked = len(script.asked)
    assert sum("getcrumb" not in path for path in script.asked) <= 2  # a cookie, the question: no second try
    for number in range(20):
        assert await reason(live.quote(parse_symbol(f"T{number}"))) == "rate_limited"
        assert await reason(live.fundamentals(ACME)) == "rate_limited"
    assert len(script.asked) == asked


async def test_a_bad_ticker_is_left_alone_by_itself(live: LiveProvider, script: Script) -> None:
    bad = parse_symbol("BAD")
    script.bad = {"BAD"}
    for _ in range(4):
        assert await reason(live.quote(bad)) == "provider_down"
    asked = sum(path.endswith("/BAD") for path in script.asked)
    assert await reason(live.quote(bad)) == "provider_down"
    assert sum(path.endswith("/BAD") for path in script.asked) == asked
    assert (await live.quote(ACME)).price == 52


async def test_an_exchange_that_answered_nonsense_once_is_asked_again(live: LiveProvider, script: Script) -> None:
    script.broken = True
    assert await reason(live.quote(BTC)) == "provider_down"
    script.broken = False
    assert (await live.quote(BTC)).price > 0


@pytest.mark.parametrize(("instead", "told"), [
    (('"profitMargins": 0.1', '"profitMargins": 1e308'), "net_margin 1e+308"),
    (('"trailingPE": 20.5', '"trailingPE": 2e9'), "pe 2e+09"),
    (('"grossMargins": 0.4', '"grossMargins": 40'), "gross_margin 40"),
    (('"trailingAnnualDividendYield": 0.012', '"trailingAnnualDividendYield": -1'), "dividend_yield -1"),
])  # fmt: skip
async def test_a_figure_that_cannot_be_is_not_passed_on(
    live: LiveProvider, script: Script, instead: tuple[str, str], told: str
) -> None:
    script.instead = instead
    with pytest.raises(ImplausibleError, match=re.escape(told)) as raised:
        await live.fundamentals(ACME)
    assert "no puede ser" in raised.value.text.in_language("es")


@pytest.mark.parametrize("instead", [('"high": [51.0,', '"high": [41.0,'), ('"amount": 0.25', '"amount": 1e9')])
async def test_a_bar_upside_down_and_a_dividend_above_all_prices_are_not_passed_on(
    live: LiveProvider, script: Script, instead: tuple[str, str]
) -> None:
    script.instead = instead
    with pytest.raises(ImplausibleError, match="cannot be"):
        await live.daily_history(ACME, 50)


@pytest.mark.parametrize("price", ["-52.0", "1e308"])
async def test_a_price_that_cannot_be_is_not_passed_on(live: LiveProvider, script: Script, price: str) -> None:
    script.instead = ("52.0]", f"{price}]")
    with pytest.raises(ImplausibleError, match="cannot be"):
        await live.quote(ACME)
    script.instead = ('"160.0"', f'"{price}"')
    with pytest.raises(ImplausibleError, match="cannot be"):
        await live.quote(BTC)


async def test_coins_are_traded_in_parts(live: LiveProvider) -> None:
    bars = (await live.bars(BTC, Timeframe.H1, 100)).bars
    assert {bar.volume for bar in bars} == {Decimal("0.25")}
    tools = {method.subject.split(".")[2]: handler for method, handler in market_tools(live)}
    quoted = await tools["get_price"](request("get_price", symbol="BTC/USD"))
    assert quoted.result["volume"] == 6.25  # of the hours that end in the last 24
    listed = await tools["get_ohlcv"](request("get_ohlcv", symbol="BTC/USD", timeframe="1h", limit=2))
    assert [bar["volume"] for bar in listed.result["bars"]] == [0.25, 0.25]


@pytest.mark.parametrize(("name", "opens", "closes"), [
    ("VOD.L", "08:00", "16:30"), ("0700.HK", "01:30", "08:00"), ("BRK.B", "14:30", "21:00"),
])  # fmt: skip
async def test_a_session_is_the_symbols_own_exchanges(live: LiveProvider, name: str, opens: str, closes: str) -> None:
    bars = (await live.daily_history(parse_symbol(name), 5)).bars
    assert {f"{bar.time:%H:%M}" for bar in bars} == {opens}
    assert {f"{bar.end:%H:%M}" for bar in bars} == {closes}


async def test_a_price_is_as_old_as_it_is(live: LiveProvider, script: Script) -> None:
    script.traded = NOW - timedelta(minutes=7)
    assert (await live.quote(ACME)).as_of == script.traded
    tools = {method.subject.split(".")[2]: handler for method, handler in market_tools(live)}
    for name, more in (("get_ohlcv", {"timeframe": "1d"}), ("get_indicators", {"indicators": ["SMA"]})):
        found = (await tools[name](request(name, symbol="ACME", **more))).result
        assert datetime.fromisoformat(found["as_of"]) == script.traded


@pytest.fixture
def stopped() -> Iterator[str]:
    """A server that has been stopped: connections are accepted, and nothing is ever answered."""
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "http.server", "0", "--bind", "127.0.0.1"], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    port = process.stdout.readline().split(" port ")[1].split(" ")[0]
    process.send_signal(signal.SIGSTOP)
    yield f"http://127.0.0.1:{port}"
    process.kill()
    process.wait(10)


@pytest.mark.parametrize("away", [True, False], ids=["refused", "stopped"])
async def test_without_an_answer_each_ticker_says_so_within_the_tools_own_limit(stopped: str, away: bool) -> None:
    live, close = provider_at("http://127.0.0.1:1" if away else stopped)
    await live.load()
    tools = {method.subject.split(".")[2]: handler for method, handler in market_tools(live)}
    wanted = ["ACME", "IBM", "VOD.L", "BTC/USD", "^GSPC"]
    async with asyncio.timeout(SNAPSHOT_SECONDS):
        found = await tools["market_snapshot"](request("market_snapshot", tickers=wanted))
    assert sorted((one["ticker"], one["reason"]) for one in found.result["errors"]) == sorted(
        (ticker, "provider_down") for ticker in wanted
    )
    assert all(one["error"] for one in found.result["errors"])
    async with asyncio.timeout(PRICE_SECONDS):
        with pytest.raises(RpcError) as raised:
            await tools["get_price"](request("get_price", symbol="MSFT"))
    assert (raised.value.code, raised.value.reason) == ("EXECUTION_ERROR", "provider_down")
    assert TIMEOUT_SECONDS < PRICE_SECONDS - 1
    await close()


PRICE_SECONDS, SNAPSHOT_SECONDS = 5.0, 15.0
"""The tools' own limits."""
