"""The tools about the market over a real NATS, on the sample data."""

from collections.abc import Awaitable, Callable
from datetime import date
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.market_rpc import QUEUE
from contracts.tools_rpc import Caller, ToolServiceRequest, tool_service
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.handlers import market_tools
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.errors import RpcError

SAMPLE = load_sample()
FACTS = load_facts()
Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
def clock() -> SampleClock:
    return SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True)


@pytest.fixture
def early() -> SampleClock:
    """The clock where it starts, in September 2012."""
    return SampleClock(SAMPLE.sessions, SAMPLE.closes)


async def serving(client: Client, clock: SampleClock) -> Call:
    server = RpcServer(client)
    for method, handler in market_tools(SampleProvider(SAMPLE, FACTS, clock)):
        await server.serve(method, handler)
    await client.flush()

    async def call(tool: str, language: str = "en", **arguments: Any) -> dict[str, Any]:
        caller = Caller(company_id="demo", user_id="u1", role="user", plan="premium", language=language)
        request = ToolServiceRequest(call_id="c1", tool=tool, arguments=arguments, caller=caller)
        return (await RpcClient(client).call(tool_service(tool, QUEUE), request, deadline=30)).result

    return call


@pytest.fixture
async def call(nats_client: Client, clock: SampleClock) -> Call:
    return await serving(nats_client, clock)


@pytest.fixture
async def early_call(nats_client: Client, early: SampleClock) -> Call:
    return await serving(nats_client, early)


async def reason(answer: Awaitable[Any]) -> str | None:
    with pytest.raises(RpcError) as raised:
        await answer
    assert raised.value.code == "EXECUTION_ERROR"
    return raised.value.reason


async def test_daily_bars_are_the_recorded_ones(call: Call) -> None:
    found = await call("get_ohlcv", symbol="ibm", timeframe="1d", limit=2)
    assert (found["symbol"], found["closed"], found["source"], found["as_of"]) == (
        "IBM", True, "sample", "2013-03-01T21:00:00Z",
    )  # fmt: skip
    assert [bar["close"] for bar in found["bars"]] == [200.83, 202.91]
    assert len((await call("get_ohlcv", symbol="ibm", timeframe="1d"))["bars"]) == 100


async def test_a_week_is_made_of_its_days(call: Call) -> None:
    week = (await call("get_ohlcv", symbol="IBM", timeframe="1w", limit=1))["bars"][0]
    days = (await call("get_ohlcv", symbol="IBM", timeframe="1d", limit=5))["bars"]
    assert week == {
        "time": days[0]["time"],
        "open": days[0]["open"],
        "high": max(day["high"] for day in days),
        "low": min(day["low"] for day in days),
        "close": days[-1]["close"],
        "volume": sum(day["volume"] for day in days),
    }


async def test_a_week_that_goes_on_is_not_closed(nats_client: Client, early: SampleClock) -> None:
    call = await serving(nats_client, early)
    early.move_to(date(2012, 9, 7))
    assert (await call("get_ohlcv", symbol="IBM", timeframe="1w"))["closed"] is True
    early.move_to(date(2012, 9, 12))
    found = await call("get_ohlcv", symbol="IBM", timeframe="1w", limit=2)
    assert (found["closed"], len(found["bars"]), found["bars"][-1]["time"]) == (False, 2, "2012-09-10T13:30:00Z")


@pytest.mark.parametrize("timeframe", ["1m", "5m", "15m", "1h", "4h"])
async def test_intraday_bars_are_not_invented(call: Call, timeframe: str) -> None:
    assert await reason(call("get_ohlcv", symbol="IBM", timeframe=timeframe)) == "not_in_sample"


async def test_indicators_come_with_their_warm_up(call: Call) -> None:
    found = await call("get_indicators", symbol="AAPL", indicators=["RSI", "MACD"])
    assert (found["timeframe"], found["warmup_bars"], found["converged"]) == ("1d", 499, True)
    assert set(found["indicators"]) == {"RSI", "MACD"}
    assert 0 <= found["indicators"]["RSI"]["value"] <= 100
    young = await call("get_indicators", symbol="FB", indicators=["RSI"])
    assert (young["warmup_bars"], young["converged"]) == (195, False)


async def test_fundamentals_are_reported_figures_and_computed_ratios(call: Call) -> None:
    found = await call("get_fundamentals", symbol="AAPL")
    assert (found["eps"], found["revenue"], found["currency"], found["beta"]) == (44.15, 156508e6, "USD", None)
    assert found["pe"] == pytest.approx(430.47 / 44.15, abs=1e-4)
    assert found["dividend_yield"] == pytest.approx(3 * 2.65 / 430.47, abs=1e-6)
    assert "10-K" in found["report_source"]


async def test_a_report_is_unknown_before_it_was_published(early_call: Call) -> None:
    assert (await early_call("get_fundamentals", symbol="AAPL"))["eps"] == 27.68


@pytest.mark.parametrize(("ticker", "day"), [
    ("AAPL", "2013-04-23"), ("IBM", "2013-04-18"), ("MSFT", "2013-04-18"), ("GOOG", "2013-04-18"), ("FB", "2013-05-01"),
])  # fmt: skip
async def test_the_next_results_are_those_of_spring_2013(call: Call, ticker: str, day: str) -> None:
    found = (await call("fundamentals_events", tickers=[ticker]))["tickers"][ticker]
    assert (found["next_earnings_date"], found["next_earnings_status"]) == (day, "expected")


async def test_one_ticker_that_fails_leaves_the_others_their_answer(call: Call) -> None:
    for tool in ("market_snapshot", "fundamentals_events"):
        found = await call(tool, tickers=["ibm", "TSLA", "IBM", "no such"])
        assert list(found["tickers"]) == ["IBM"]
        assert [(one["ticker"], one["reason"]) for one in found["errors"]] == [
            ("TSLA", "not_in_sample"), ("no such", "bad_symbol"),
        ]  # fmt: skip
        assert found["tickers"]["IBM"]["source"] == "sample"
        assert found["tickers"]["IBM"]["as_of"] == "2013-03-01T21:00:00Z"


@pytest.mark.parametrize("tool", ["market_snapshot", "fundamentals_events"])
@pytest.mark.parametrize(("language", "words"), [("es", "TSLA no está en los datos"), ("en", "TSLA is not in the")])
async def test_what_failed_is_said_in_the_callers_language(call: Call, tool: str, language: str, words: str) -> None:
    (failure,) = (await call(tool, language, tickers=["TSLA"]))["errors"]
    assert failure["error"].startswith(words)


async def test_a_snapshot_has_its_figures(call: Call) -> None:
    found = (await call("market_snapshot", tickers=["IBM"]))["tickers"]["IBM"]
    assert set(found["returns"]) == {"1d", "1w", "1m", "3m", "1y", "ytd"}
    assert found["returns"]["1d"] == pytest.approx(202.91 / 200.83 - 1, abs=1e-6)
    assert found["max_drawdown"] <= found["current_drawdown"] <= 0
    assert (found["ohlcv"]["bars"], len(found["ohlcv"]["tail"])) == (253, 20)


async def test_news_is_dated_newest_first_and_scored(call: Call, early: SampleClock) -> None:
    found = await call("get_news", symbol="AAPL", limit=3)
    assert [item["title"][:25] for item in found["items"]] == [
        "iTunes Store Sets New Rec", "Apple stock falls 10% aft", "Apple Reports First Quart",
    ]  # fmt: skip
    fall = found["items"][1]
    assert (fall["sentiment"]["label"], fall["source"]) == ("negative", "Los Angeles Times")
    assert all(item["time"] <= found["as_of"] for item in found["items"])


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "MSFT", "GOOG", "FB"])
async def test_nothing_is_read_before_it_is_published(early_call: Call, ticker: str) -> None:
    found = await early_call("get_news", symbol=ticker, limit=50)
    assert found["items"]
    assert all(item["time"] <= found["as_of"] for item in found["items"])
    assert found["as_of"].startswith("2012-09-05")


@pytest.mark.parametrize(
    ("day", "opens", "closes", "early_close", "next_day"),
    [
        ("2012-11-22", None, None, False, "2012-11-23"),  # Thanksgiving
        ("2012-11-23", "2012-11-23T14:30:00Z", "2012-11-23T18:00:00Z", True, "2012-11-26"),
        ("2012-12-24", "2012-12-24T14:30:00Z", "2012-12-24T18:00:00Z", True, "2012-12-26"),
        ("2012-07-07", None, None, False, "2012-07-09"),
    ],
)
async def test_the_hours_of_a_day_are_the_exchanges(
    call: Call, day: str, opens: str | None, closes: str | None, early_close: bool, next_day: str
) -> None:
    found = await call("get_market_hours", day=day)
    assert (found["opens"], found["closes"], found["early_close"]) == (opens, closes, early_close)
    assert (found["day"], found["next_day"], found["source"]) == (day, next_day, "sample")


async def test_a_storm_closes_no_day_before_it_comes(early_call: Call) -> None:
    planned = await early_call("get_market_hours", day="2012-10-29")
    assert (planned["opens"], planned["closes"]) == ("2012-10-29T13:30:00Z", "2012-10-29T20:00:00Z")


async def test_a_storm_has_closed_its_days_afterwards(call: Call) -> None:
    held = await call("get_market_hours", day="2012-10-29")
    assert (held["opens"], held["next_day"]) == (None, "2012-10-31")


async def test_without_a_day_the_hours_are_todays(early_call: Call) -> None:
    todays = await early_call("get_market_hours")
    assert todays["opens"] == "2012-09-05T13:30:00Z"
    assert [(found["day"], found["closes"]) for found in todays["holidays"]] == [
        ("2012-11-22", None), ("2012-11-23", "2012-11-23T18:00:00Z"), ("2012-12-24", "2012-12-24T18:00:00Z"),
        ("2012-12-25", None), ("2013-01-01", None), ("2013-01-21", None),
    ], "without the storm of October, which nobody knows yet"  # fmt: skip


async def test_sentiment_tells_its_sources_and_its_method(call: Call) -> None:
    found = await call("get_sentiment", symbol="AAPL")
    assert sum(one["items"] for one in found["sources"]) == found["items"] == 12
    assert -1 <= found["score"] <= 1
    assert "rough hint" in found["method"]


async def test_a_signal_comes_with_what_it_has_been_worth(call: Call) -> None:
    found = await call("get_ml_signals", symbol="IBM")
    assert found["prediction"] in ("bullish", "bearish", "neutral", "no_edge")
    assert found["skill_vs_base"] == pytest.approx(found["accuracy"] - found["base_accuracy"], abs=2e-4)
    assert (found["prediction"] == "no_edge") == (found["skill_vs_base"] <= 0)
    features = await call("get_ml_features", symbol="IBM", prediction_id=found["prediction_id"])
    assert sum(feature["importance"] for feature in features["features"]) == pytest.approx(1, abs=1e-4)
    assert features["prediction_id"] == found["prediction_id"]


@pytest.mark.parametrize("name", ["nonsense", "MSFT-20130301-h5-v1", "IBM-20130302-h5-v1", "IBM-20139999-h5-v1"])
async def test_an_id_that_is_no_prediction_has_no_features(call: Call, name: str) -> None:
    assert await reason(call("get_ml_features", symbol="IBM", prediction_id=name)) == "unknown_prediction"


async def test_too_short_a_history_gives_no_signal(call: Call) -> None:
    assert await reason(call("get_ml_signals", symbol="FB")) == "no_data"


def test_reported_earnings_per_share_are_income_by_shares() -> None:
    for ticker in ("AAPL", "IBM", "MSFT", "GOOG"):
        for report in FACTS.reports[ticker]:
            assert report.net_income is not None
            assert report.shares is not None
            assert report.eps is not None
            assert float(report.net_income / report.shares) == pytest.approx(float(report.eps), abs=0.006)


def test_declared_dividends_agree_with_the_recorded_ones() -> None:
    recorded = {
        (ticker, dividend.on): str(dividend.amount)
        for ticker, held in SAMPLE.series.items()
        for dividend in held.dividends
    }
    for event in FACTS.events:
        if event.kind.value == "dividend" and event.ticker is not None:
            assert recorded[event.ticker, event.on] in event.name


@pytest.mark.parametrize("ticker", ["AAPL", "IBM", "MSFT", "GOOG", "FB"])
async def test_nothing_about_a_symbol_goes_out_without_source_and_time(call: Call, ticker: str) -> None:
    asked: dict[str, dict[str, Any]] = {
        "get_price": {},
        "get_ohlcv": {"timeframe": "1w"},
        "get_indicators": {"indicators": ["OBV"]},
        "get_fundamentals": {},
        "get_news": {},
        "get_sentiment": {},
    }
    for tool, arguments in asked.items():
        found = await call(tool, symbol=ticker, **arguments)
        assert found["source"] == "sample"
        assert found["as_of"].startswith("2013-03-01")
