"""A question asked as of a past date knows nothing later: every tool about the market, by name.

Two ways to be in the past: the market's clock stands there, or the question names an `end`. In neither may anything
that comes after change the answer.
"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, datetime, time
from decimal import Decimal
from fractions import Fraction
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from contracts.tools_rpc import Caller, ToolServiceRequest
from market_adapter.adapters.exchange_calendar import NEW_YORK
from market_adapter.adapters.sample_facts import SampleFacts, load_facts
from market_adapter.adapters.sample_files import SampleData, SampleSeries, load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.domain.bars import Bar, Dividend, Split
from market_adapter.domain.facts import Event, EventKind, Headline
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.handlers import market_tools
from runtime.errors import RpcError

SAMPLE, FACTS = load_sample(), load_facts()
ONE, TWO = {"symbol": "IBM"}, {"tickers": ["IBM", "AAPL"]}
BY_CLOCK: Mapping[str, dict[str, Any]] = {
    "get_price": ONE,
    "get_ohlcv": {**ONE, "timeframe": "1w", "limit": 30},
    "get_indicators": {**ONE, "indicators": ["RSI", "MACD", "BB", "SMA", "EMA", "ATR", "VWAP", "OBV", "ADX"]},
    "get_fundamentals": ONE,
    "market_snapshot": TWO,
    "fundamentals_events": TWO,
    "get_performance": {**TWO, "period": "2y", "every": "month", "amount": 1000},
    "get_correlation": {**TWO, "period": "1y", "benchmark": "MSFT"},
    "get_crossings": {**ONE, "fast": 20, "slow": 50, "period": "3y"},
    "backtest_strategy": {**ONE, "fast": 20, "slow": 50, "period": "2y"},
    "get_news": {**ONE, "limit": 50},
    "get_sentiment": ONE,
    "get_market_hours": {"day": "2012-10-29"},
    "get_ml_signals": ONE,
    "get_ml_features": ONE,
}
"""What each is asked; a tool that is not here is asked nothing, and the first test fails."""
BY_END = {
    "get_ohlcv": {**ONE, "timeframe": "1d", "limit": 30},
    "get_indicators": BY_CLOCK["get_indicators"],
    **{name: BY_CLOCK[name] for name in ("get_performance", "get_correlation", "get_crossings", "backtest_strategy")},
    "get_news": {**ONE, "limit": 50},
    "get_sentiment": ONE,
}
LEARNT = ("get_ml_signals", "get_ml_features")
"""They learn from every bar before: a second each."""
LATE = st.sampled_from(SAMPLE.sessions[-120:-1])
ANY = st.sampled_from(SAMPLE.sessions[1000:-1])


def clock_at(day: date, data: SampleData) -> SampleClock:
    clock = SampleClock(data.sessions, data.closes, at_end=True)
    clock.index = data.sessions.index(day)
    return clock


def provider_at(day: date, data: SampleData = SAMPLE, facts: SampleFacts = FACTS) -> SampleProvider:
    return SampleProvider(data, facts, clock_at(day, data))


def another_future(series: SampleSeries, day: date) -> SampleSeries:
    """The same up to that day; then prices three times as high, a split and a dividend."""

    def later(bar: Bar) -> Bar:
        if bar.session <= day:
            return bar
        return replace(bar, open=bar.open * 3, high=bar.high * 3, low=bar.low * 3, close=bar.close * 3, volume=7)

    after = next(bar.session for bar in series.bars if bar.session > day)
    splits = (*(split for split in series.splits if split.on <= day), Split(after, Fraction(5)))
    dividends = (*(dividend for dividend in series.dividends if dividend.on <= day), Dividend(after, Decimal(9)))
    return replace(series, bars=tuple(later(bar) for bar in series.bars), splits=splits, dividends=dividends)


def other_facts(day: date) -> SampleFacts:
    """The same up to that day; then reports, headlines and events that nobody knows of yet."""
    after = SAMPLE.sessions[SAMPLE.sessions.index(day) + 1]
    published = datetime.combine(after, time(23, 59), NEW_YORK)
    news = Headline("IBM collapses", published, "Nobody", None)
    reports = {
        name: [*known, replace(known[-1], period="FY2099", published=after, eps=Decimal(1000))]
        for name, known in FACTS.reports.items()
    }
    kinds = (EventKind.EARNINGS, EventKind.DIVIDEND)
    events = [Event(after, "not known", kind, "high", after, True, "nobody", "IBM") for kind in kinds]
    headlines = {name: [*known, news] for name, known in FACTS.headlines.items()}
    return SampleFacts(reports, headlines, [*FACTS.events, *events])


async def answer(provider: SampleProvider, tool: str, **arguments: Any) -> Any:
    """The answer as it goes out, or why there is none."""
    handlers = {method.subject.split(".")[2]: handler for method, handler in market_tools(provider)}
    caller = Caller(company_id="demo", user_id="u1", role="user", plan="premium", language="en")
    if tool == "get_ml_features":
        arguments["prediction_id"] = (await answer(provider, "get_ml_signals", **arguments))["prediction_id"]
    try:
        asked = ToolServiceRequest(call_id="c1", tool=tool, arguments=arguments, caller=caller)
        return json.loads((await handlers[tool](asked)).model_dump_json())["result"]
    except RpcError as error:
        return str(error)


def test_every_tool_about_the_market_is_asked_here() -> None:
    served = {method.subject.split(".")[2] for method, _ in market_tools(provider_at(SAMPLE.sessions[-1]))}
    assert served == set(BY_CLOCK)


def without(found: Any, *names: str) -> Any:
    """An answer without some of its fields; a reason why there is none stays itself."""
    return found if isinstance(found, str) else {name: found[name] for name in found if name not in names}


def with_another_future(day: date) -> SampleProvider:
    series = {name: another_future(item, day) for name, item in SAMPLE.series.items()}
    return provider_at(day, SampleData(SAMPLE.sessions, SAMPLE.closes, series), other_facts(day))


@settings(max_examples=2, deadline=None)
@given(day=LATE)
async def test_what_the_clock_has_not_reached_changes_no_answer(day: date) -> None:
    one, other = provider_at(day), with_another_future(day)
    for tool, asked in BY_CLOCK.items():
        if tool not in LEARNT:
            assert await answer(one, tool, **asked) == await answer(other, tool, **asked), tool


async def test_nor_what_is_learnt() -> None:
    day = SAMPLE.sessions[-60]
    one, other = provider_at(day), with_another_future(day)
    for tool in LEARNT:
        found = await answer(one, tool, **BY_CLOCK[tool])
        assert not isinstance(found, str)
        assert found == await answer(other, tool, **BY_CLOCK[tool]), tool


@settings(max_examples=4, deadline=None)
@given(day=st.one_of(LATE, ANY))
async def test_an_answer_up_to_a_day_is_what_was_known_on_that_day(day: date) -> None:
    now, then = provider_at(SAMPLE.sessions[-1]), provider_at(day)
    for tool, asked in BY_END.items():
        later, at_once = [await answer(one, tool, **asked, end=day.isoformat()) for one in (now, then)]
        if isinstance(later, str) and isinstance(at_once, str):
            continue  # each says what it has
        assert without(later, "as_of", "closed") == without(at_once, "as_of", "closed"), tool
