"""Figures of any stretch, worked out anew with pandas straight from the data files."""

from collections.abc import Awaitable, Callable
from datetime import date
from importlib.resources import files
from typing import Any

import numpy as np
import pandas
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

pd: Any = pandas
"""Its stubs do not know what a column holds."""
SAMPLE = load_sample()
FACTS = load_facts()
Call = Callable[..., Awaitable[dict[str, Any]]]


@pytest.fixture
async def call(nats_client: Client) -> Call:
    server = RpcServer(nats_client)
    provider = SampleProvider(SAMPLE, FACTS, SampleClock(SAMPLE.sessions, SAMPLE.closes, at_end=True))
    for method, handler in market_tools(provider):
        await server.serve(method, handler)
    await nats_client.flush()

    async def asked(tool: str, **arguments: Any) -> dict[str, Any]:
        caller = Caller(company_id="demo", user_id="u1", role="user", plan="premium", language="en")
        request = ToolServiceRequest(call_id="c1", tool=tool, arguments=arguments, caller=caller)
        return (await RpcClient(nats_client).call(tool_service(tool, QUEUE), request, deadline=30)).result

    return asked


def closes(ticker: str) -> Any:
    """Split-adjusted closes, straight from the files."""
    data = files("market_adapter") / "data"
    bars = pd.read_csv(str(data / "bars" / f"{ticker}.csv"), index_col="date")
    actions = pd.read_csv(str(data / "actions.csv"))
    found = bars["close"].astype(float)
    splits = actions[(actions["ticker"] == ticker) & (actions["kind"] == "split")]
    for day, ratio in zip(splits["date"], splits["value"], strict=True):
        top, _, bottom = str(ratio).partition("/")
        found = found.where(found.index >= day, found / (float(top) / float(bottom or 1)))
    return found


def between(ticker: str, first: str, last: str) -> Any:
    """The closes with the base before them."""
    all_of = closes(ticker)
    start = max(int((all_of.index < first).sum()) - 1, 0)
    return all_of.iloc[start : int((all_of.index <= last).sum())]


def value(answer: dict[str, Any], ticker: str, name: str, other: str | None = None) -> Any:
    return next(
        one["value"]
        for one in answer["figures"]
        if (one["ticker"], one["figure"], one["other"]) == (ticker, name, other)
    )


@pytest.mark.parametrize(
    ("ticker", "first", "last"),
    [
        ("IBM", "2008-01-01", "2008-12-31"),
        ("MSFT", "2012-03-01", "2012-06-30"),
        ("AAPL", "2005-01-01", "2005-12-31"),
        ("GOOG", "2012-10-01", "2012-12-31"),
    ],
)
async def test_a_stretch_is_what_pandas_says(call: Call, ticker: str, first: str, last: str) -> None:
    answer = await call("get_performance", tickers=[ticker], start=first, end=last, amount=10_000)
    of = between(ticker, first, last)
    moves = of.pct_change().dropna()
    expected = {
        "return": of.iloc[-1] / of.iloc[0] - 1,
        "volatility": np.log(of).diff().std() * np.sqrt(252),
        "max_drawdown": (of / of.cummax() - 1).min(),
        "best_day": moves.max(),
        "worst_day": moves.min(),
    }
    for name, figure in expected.items():
        assert value(answer, ticker, name) == pytest.approx(figure, abs=1e-6), name
    assert value(answer, ticker, "growth") == pytest.approx(10_000 * of.iloc[-1] / of.iloc[0], abs=0.01)
    assert answer["figures"][0]["asked"] == f"{first}/{last}"


async def test_parts_and_the_other_figures_of_a_stretch_are_what_pandas_says(call: Call) -> None:
    first, last = "2010-01-01", "2011-12-31"
    answer = await call("get_performance", tickers=["IBM"], start=first, end=last, every="month", top=3)
    of = between("IBM", first, last)
    moves = of.pct_change().dropna()
    ends = of.groupby(of.index.str[:7]).last()
    months = (ends / ends.shift() - 1).dropna()
    actions = pd.read_csv(str(files("market_adapter") / "data" / "actions.csv"))
    paid = actions[(actions["ticker"] == "IBM") & (actions["kind"] == "dividend")].set_index("date")["value"]
    paid = paid[(paid.index >= first) & (paid.index <= last)].astype(float)
    years = (date(2011, 12, 30) - date(2009, 12, 31)).days / 365.25
    for name, each in (("month", months), ("day", moves)):
        worst = [one["value"] for one in answer["figures"] if one["figure"] == f"worst_{name}"]
        best = [one["value"] for one in answer["figures"] if one["figure"] == f"best_{name}"]
        assert (worst, best) == (
            pytest.approx(each.nsmallest(3).tolist(), abs=1e-6),
            pytest.approx(each.nlargest(3).tolist(), abs=1e-6),
        )
    logs = np.log(of).diff().dropna()
    volatilities = logs.groupby(logs.index.str[:7]).std() * 252**0.5
    assert not [one for one in answer["figures"] if one["figure"] == "month_volatility"]
    of_months = await call(
        "get_performance", tickers=["IBM"], start=first, end=last, every="month", parts="volatilities"
    )
    told = [one["value"] for one in of_months["figures"] if one["figure"] == "month_volatility"]
    assert not [one for one in of_months["figures"] if one["figure"] == "month_return"]
    assert told[1:] == pytest.approx(volatilities.tolist()[1:], abs=1e-6)
    expected = {
        "best_month": months.max(),
        "worst_month": months.min(),
        "close": of.iloc[-1],
        "current_drawdown": of.iloc[-1] / of.max() - 1,
        "up_days": (moves > 0).sum(),
        "down_days": (moves < 0).sum(),
        "dividends": paid.sum(),
        "total_return": (of.iloc[-1] / of.iloc[0]) * (1 + paid / of[paid.index]).prod() - 1,
        "cagr": (of.iloc[-1] / of.iloc[0]) ** (1 / years) - 1,
        "total_cagr": ((of.iloc[-1] / of.iloc[0]) * (1 + paid / of[paid.index]).prod()) ** (1 / years) - 1,
        "base": of.iloc[0],
        "highest_close": of.iloc[1:].max(),
        "lowest_close": of.iloc[1:].min(),
    }
    for name, figure in expected.items():
        assert value(answer, "IBM", name) == pytest.approx(figure, abs=1e-6), name
    assert [one["value"] for one in answer["figures"] if one["figure"] == "month_return"] == pytest.approx(
        list(months), abs=1e-6
    )


@pytest.mark.parametrize(
    ("ticker", "first", "last"),
    [("IBM", "2012-01-01", "2012-12-31"), ("MSFT", "2008-01-01", "2008-12-31"), ("AAPL", "2005-01-01", "2005-12-31")],
)
async def test_the_longest_streaks_are_what_pandas_says(call: Call, ticker: str, first: str, last: str) -> None:
    answer = await call("get_performance", tickers=[ticker], start=first, end=last)
    moves = between(ticker, first, last).diff().dropna()
    for name, held in (("up_streak", moves > 0), ("down_streak", moves < 0)):
        runs = held[held].groupby((~held).cumsum()[held])
        longest = runs.size().idxmax()
        days = runs.get_group(longest).index
        told = next(one for one in answer["figures"] if one["figure"] == name)
        assert (told["value"], told["from"], told["to"]) == (len(days), days[0], days[-1])
    rising = moves.iloc[-1] > 0
    since = moves.index[(moves > 0) != rising][-1]
    now = next(one for one in answer["figures"] if one["figure"] == ("up_run" if rising else "down_run"))
    run = moves[moves.index > since]
    assert (now["value"], now["from"], now["to"]) == (len(run), run.index[0], run.index[-1])


@pytest.mark.parametrize(
    ("period", "first"),
    [("mtd", "2013-03-01"), ("qtd", "2013-01-01"), ("wtd", "2013-02-25"), ("since-09", "2012-09-01"),
     ("since-03", "2012-03-01"), ("since-02-31", "2013-02-28")],
)  # fmt: skip
async def test_up_to_now_is_from_the_latest_day_of_that_name(call: Call, period: str, first: str) -> None:
    answer = await call("get_performance", tickers=["IBM"], period=period, amount=1000)
    of = between("IBM", first, "2013-03-01")
    assert value(answer, "IBM", "return") == pytest.approx(of.iloc[-1] / of.iloc[0] - 1, abs=1e-6)
    assert value(answer, "IBM", "shares") == pytest.approx(1000 / of.iloc[0], abs=1e-4)
    assert answer["figures"][0]["asked"] == f"{first}/"
    bars = pd.read_csv(str(files("market_adapter") / "data" / "bars" / "IBM.csv")).set_index("date")["volume"]
    traded = bars[bars.index >= first]
    assert value(answer, "IBM", "average_volume") == pytest.approx(traded.mean(), abs=0.5)
    busiest = next(one for one in answer["figures"] if one["figure"] == "highest_volume")
    assert (busiest["on"], busiest["value"]) == (traded.idxmax(), traded.max())


async def test_the_year_so_far_is_from_the_last_close_of_the_year_before(call: Call) -> None:
    answer = await call("get_performance", tickers=["IBM"], period="ytd")
    of = between("IBM", "2013-01-01", "2013-12-31")
    assert value(answer, "IBM", "return") == pytest.approx(of.iloc[-1] / of.iloc[0] - 1, abs=1e-6)
    assert answer["figures"][0]["asked"] == "ytd"


async def test_a_close_of_before_a_split_is_as_it_was_traded(call: Call) -> None:
    answer = await call("get_performance", tickers=["AAPL"], start="2005-02-25", end="2005-02-25")
    bars = pd.read_csv(str(files("market_adapter") / "data" / "bars" / "AAPL.csv"), index_col="date")
    assert value(answer, "AAPL", "close") == bars["close"]["2005-02-25"]


async def test_the_price_crosses_its_average_where_pandas_says(call: Call) -> None:
    answer = await call("get_crossings", symbol="IBM", fast=1, slow=200, start="2011-01-01", end="2011-12-31")
    of = closes("IBM")
    side = (of - of.rolling(200).mean()).dropna() > 0
    turned = side[side != side.shift()].iloc[1:]
    expected = [(day, bool(above)) for day, above in turned.items() if str(day)[:4] == "2011"]
    assert [(one["on"], one["above"]) for one in answer["crossings"]] == expected


async def test_an_indicator_of_another_length_and_day_is_what_pandas_says(call: Call) -> None:
    asked = {"symbol": "IBM", "end": "2012-06-02"}
    found = await call("get_indicators", **asked, indicators=["SMA", "EMA", "RSI"], length=100)
    of = closes("IBM")
    of = of[of.index <= "2012-06-01"]
    average = of.iloc[-100:].mean()
    gap = pytest.approx(of.iloc[-1] / average - 1)
    assert found["indicators"]["SMA"] == {"value": pytest.approx(average), "period": 100, "gap": gap}
    assert found["indicators"]["EMA"]["value"] == pytest.approx(of.ewm(span=100, adjust=False).mean().iloc[-1])
    moves = of.diff().dropna()
    gains, falls = (
        part.ewm(alpha=0.01, adjust=False).mean().iloc[-1] for part in (moves.clip(0), -moves.clip(upper=0))
    )
    assert found["indicators"]["RSI"]["value"] == pytest.approx(100 - 100 / (1 + gains / falls), rel=1e-6)
    assert (found["price"], found["as_of"][:10]) == (of.iloc[-1], "2012-06-01")


async def test_headlines_of_asked_days_are_those_days(call: Call) -> None:
    found = await call("get_news", symbol="AAPL", start="2013-01-01", end="2013-01-31", limit=50)
    assert len(found["items"]) == 3
    assert (await call("get_sentiment", symbol="AAPL", start="2013-01-24", end="2013-01-24"))["items"] == 1
    # The market's present is 1 March 2013.
    of_a_period = await call("get_news", symbol="AAPL", period="2m", limit=50)
    assert {item["time"] >= "2013-01-02" for item in of_a_period["items"]} == {True}
    with pytest.raises(RpcError, match="no headlines of AAPL then"):
        await call("get_news", symbol="AAPL", period="1d")
    with pytest.raises(RpcError, match="no headlines of AAPL then"):
        await call("get_news", symbol="AAPL", start="2010-01-01", end="2010-12-31")


async def test_correlation_and_beta_are_what_pandas_says(call: Call) -> None:
    asked = {"tickers": ["IBM", "MSFT"], "start": "2012-01-01", "end": "2012-12-31", "benchmark": "AAPL"}
    answer = await call("get_correlation", **asked)
    frame = pd.DataFrame({name: between(name, "2012-01-01", "2012-12-31") for name in ("IBM", "MSFT", "AAPL")})
    moves = frame.pct_change().dropna()
    assert value(answer, "IBM", "correlation", "MSFT") == pytest.approx(moves["IBM"].corr(moves["MSFT"]), abs=1e-6)
    beta = moves["MSFT"].cov(moves["AAPL"]) / moves["AAPL"].var()
    assert value(answer, "MSFT", "beta", "AAPL") == pytest.approx(beta, abs=1e-6)
    weekly = await call("get_correlation", **asked, every="week")
    frame.index = pd.to_datetime(frame.index)
    moves = frame.resample("W").last().pct_change().dropna()
    assert value(weekly, "IBM", "correlation", "MSFT") == pytest.approx(moves["IBM"].corr(moves["MSFT"]), abs=1e-6)
    assert {one["label"] for one in weekly["figures"]} == {"week"}


async def test_a_correlation_is_of_the_days_that_both_have(call: Call) -> None:
    answer = await call("get_correlation", tickers=["IBM", "FB"], start="2011-01-01", end="2012-12-31")
    (one,) = answer["figures"]
    assert (one["from"], one["to"]) == ("2012-05-18", "2012-12-31")


async def test_crossings_are_what_pandas_says(call: Call) -> None:
    answer = await call("get_crossings", symbol="IBM", fast=50, slow=200, start="2008-01-01", end="2012-12-31")
    of = closes("IBM")
    side = (of.rolling(50).mean() - of.rolling(200).mean()).dropna() > 0
    turned = side[side != side.shift()].iloc[1:]
    expected = [(day, bool(above)) for day, above in turned.items() if "2008-01-01" <= str(day) <= "2012-12-31"]
    assert [(one["on"], one["above"]) for one in answer["crossings"]] == expected


async def test_bars_of_asked_days_are_those_days(call: Call) -> None:
    asked = {"symbol": "IBM", "timeframe": "1d", "limit": 500, "start": "2008-03-01", "end": "2008-06-30"}
    bars = (await call("get_ohlcv", **asked))["bars"]
    of = closes("IBM")
    inside = of[(of.index >= "2008-03-01") & (of.index <= "2008-06-30")]
    assert [bar["close"] for bar in bars] == pytest.approx(list(inside))
    assert bars[0]["time"][:10] == inside.index[0]


async def test_days_before_the_data_are_no_figures(call: Call) -> None:
    answer = await call("get_performance", tickers=["FB", "IBM"], start="2008-01-01", end="2008-12-31")
    assert [one["ticker"] for one in answer["errors"]] == ["FB"]
    assert {one["ticker"] for one in answer["figures"]} == {"IBM"}
    with pytest.raises(RpcError, match="no bars on those days"):
        await call("get_ohlcv", symbol="FB", timeframe="1d", start="2008-01-01", end="2008-12-31")


async def test_days_without_data_are_answered_with_those_that_have_some(call: Call) -> None:
    for name, asked in (("get_ohlcv", {"timeframe": "1d"}), ("backtest_strategy", {"rule": "buy_and_hold"})):
        with pytest.raises(RpcError, match="there are those of 2000-03-01 – "):
            await call(name, symbol="IBM", start="2099-01-01", **asked)
    with pytest.raises(RpcError, match="end: is no day of the calendar"):
        await call("get_performance", tickers=["IBM"], end="2008-02-30")
    with pytest.raises(RpcError, match="1800-01-01"):
        await call("get_performance", tickers=["IBM"], end="0001-01-01", period="5y")


async def test_buying_and_holding_is_what_the_bars_say(call: Call) -> None:
    asked = {"symbol": "IBM", "rule": "buy_and_hold", "start": "2012-01-01", "end": "2012-12-31", "cost_percent": 0}
    answer = await call("backtest_strategy", **asked)
    data = files("market_adapter") / "data"
    bars = pd.read_csv(str(data / "bars" / "IBM.csv"), index_col="date")
    year = bars[(bars.index >= "2012-01-01") & (bars.index <= "2012-12-31")]
    assert value(answer, "IBM", "return") == pytest.approx(year["close"].iloc[-1] / year["open"].iloc[0] - 1, abs=1e-5)
    assert answer["trade_count"] == 1
    assert answer["assumptions"][:2] == [
        "Rule: bought at the first open and held.",
        "Costs of 0 % of each trade; all of the money in or out; no tax, no interest.",
    ]
