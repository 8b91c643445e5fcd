"""After the last recorded session: the recorded ones again, on the exchange's next dates, and said to be so."""

import gc
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pandas_market_calendars
import pytest

from contracts.market_rpc import MarketStatusRequest
from contracts.symbols import parse_symbol
from contracts.tools.market import Timeframe
from contracts.tools_rpc import Caller, ToolServiceRequest
from market_adapter.adapters.sample_facts import load_facts
from market_adapter.adapters.sample_files import load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.adapters.sample_replay import SampleReplay, following_sessions
from market_adapter.app import sample_clock, warm_up
from market_adapter.context import MarketContext
from market_adapter.domain.paper.orders import OrderState
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.errors import NotInSampleError
from market_adapter.handlers import market_tools
from market_adapter.paper_trading import PaperTrading
from market_adapter.testing.desk import Desk

SAMPLE, FACTS = load_sample(), load_facts()
WINDOW = 196
"""Sessions in which all five were traded."""
LAST = date(2013, 3, 1)
IBM, FB = parse_symbol("IBM"), parse_symbol("FB")


def clock_after(sessions: int) -> SampleClock:
    clock = sample_clock(SAMPLE, frozen=False)
    clock.move_to(LAST)
    for _ in range(sessions):
        clock.move_to(clock.next_session)
    return clock


def provider_after(sessions: int) -> SampleProvider:
    return SampleProvider(SAMPLE, FACTS, clock_after(sessions))


def test_the_following_sessions_are_the_exchanges() -> None:
    schedule: Any = pandas_market_calendars.get_calendar("NYSE").schedule(date(2013, 3, 2), date(2030, 12, 31))
    clock = clock_after(0)
    assert not clock.ended
    for session, close in zip(schedule.index, schedule["market_close"], strict=True):
        clock.move_to(clock.next_session)
        assert (clock.session, clock.now, clock.replaying) == (session.date(), close.to_pydatetime(), True)


def test_a_frozen_clock_stays_on_the_last_real_bar() -> None:
    clock = sample_clock(SAMPLE, frozen=True)
    assert (clock.session, clock.ended, clock.replaying) == (LAST, True, False)
    assert not clock.move_to(LAST + timedelta(days=30))


def test_the_dates_go_on_beyond_the_calendars_end() -> None:
    following = following_sessions()
    day = date(2199, 12, 30)
    for _ in range(10):
        day, _close = following(day)
    assert day.year == 2200


def test_a_replica_that_starts_later_stands_where_the_others_stand() -> None:
    late = sample_clock(SAMPLE, frozen=False)
    late.move_to(clock_after(1000).session)
    assert (late.index, late.now) == (clock_after(1000).index, clock_after(1000).now)


def test_recorded_sessions_are_played_backwards_and_then_forwards() -> None:
    replay = SampleReplay(SAMPLE)
    sources = [replay.place(n).source for n in range(1, 4 * WINDOW + 1)]
    there = list(range(WINDOW - 1, -1, -1))
    assert sources == [*there, *reversed(there)] * 2


@pytest.mark.parametrize("ticker", sorted(SAMPLE.series))
async def test_there_is_no_jump_where_recorded_bars_end_or_turn(ticker: str) -> None:
    bars = (await provider_after(3 * WINDOW).daily_history(parse_symbol(ticker), 4 * WINDOW)).bars
    assert [bar.session for bar in bars] == sorted({bar.session for bar in bars})
    real = SAMPLE.series[ticker].bars[-WINDOW:]
    gaps = {abs(after.open - before.close) for before, after in pairwise(real)} | {0}
    assert {abs(after.open - before.close) for before, after in pairwise(bars)} <= gaps
    for bar in bars[WINDOW:]:
        assert bar.low <= min(bar.open, bar.close) <= max(bar.open, bar.close) <= bar.high
        assert min(one.low for one in real) <= bar.low
        assert bar.time < bar.end
    assert bars[WINDOW].open == bars[WINDOW].open == real[-1].close


async def test_what_is_shown_grows_by_one_bar_a_session_and_never_changes() -> None:
    one, later = provider_after(5), provider_after(6)
    before, after = await one.daily_history(IBM, 50), await later.daily_history(IBM, 51)
    assert tuple(before.bars) == tuple(after.bars[:-1])
    assert after.last.end == later.now()
    news = await later.bars_since(IBM, one.now())
    assert news is not None
    assert news.bars == after.bars[-1:]
    assert await later.bars_since(IBM, later.now()) is None
    assert len((await later.bars(IBM, Timeframe.W1, 30)).bars) == 30
    assert len((await later.daily_history(FB, 10_000)).bars) == WINDOW + 6


async def test_an_order_is_filled_and_an_old_one_expires_by_the_replayed_market() -> None:
    provider = provider_after(0)
    desk = Desk(provider)  # pyright: ignore[reportArgumentType] - the market is moved by its clock here
    await desk.decide(await desk.order(call_id="now"))
    waiting = await desk.order(call_id="low", order_type="limit", limit_price=1)
    await desk.decide(waiting)
    for sessions in (1, 90):
        provider = provider_after(sessions)
        desk.paper_trading = PaperTrading(desk.memory, provider, desk.published.publish, desk.clock)
        await desk.paper_trading.run()
    (filled,) = desk.published.of("order.filled.v1")
    recorded = SAMPLE.series["IBM"].bars[-1]
    assert (filled["price"], filled["source"], filled["time"][:10]) == (str(recorded.close), "sample", "2013-03-04")
    assert await desk.state(waiting) is OrderState.EXPIRED


async def call(provider: SampleProvider, name: str, language: str = "en", **arguments: Any) -> dict[str, Any]:
    tools = {method.subject.split(".")[2]: handler for method, handler in market_tools(provider)}
    caller = Caller(company_id="demo", user_id="u1", role="user", plan="premium", language=language)
    return (await tools[name](ToolServiceRequest(call_id="c", tool=name, arguments=arguments, caller=caller))).result


CALLS: dict[str, dict[str, Any]] = {
    "get_price": {"symbol": "IBM"},
    "get_ohlcv": {"symbol": "IBM", "timeframe": "1d"},
    "get_indicators": {"symbol": "IBM", "indicators": ["RSI"]},
    "get_fundamentals": {"symbol": "IBM"},
    "market_snapshot": {"tickers": ["IBM", "TSLA"]},
    "fundamentals_events": {"tickers": ["IBM"]},
    "get_news": {"symbol": "IBM"},
    "get_sentiment": {"symbol": "IBM"},
}


@pytest.mark.parametrize("name", CALLS)
async def test_every_answer_says_that_bars_are_played_again_and_none_does_before(name: str) -> None:
    real, again = await call(provider_after(0), name, **CALLS[name]), await call(provider_after(1), name, **CALLS[name])
    assert "note" not in real
    assert again["source"] == "sample"
    assert "2013-03-01" in again["note"]
    assert "not the prices of those dates" in again["note"]
    assert "no son los precios" in (await call(provider_after(1), name, "es", **CALLS[name]))["note"]


@pytest.mark.parametrize("sessions", [0, 1])
async def test_the_status_says_it_too(sessions: int) -> None:
    found = await MarketContext(provider_after(sessions)).status(MarketStatusRequest())
    assert (found.notes is not None) == (sessions > 0)


async def test_facts_are_never_played_again() -> None:
    real, again = provider_after(0), provider_after(400)
    assert await again.fundamentals(IBM) == await real.fundamentals(IBM)
    published = [one.published for one in await again.headlines(IBM, 50)]
    assert max(published).date() <= LAST
    assert all(event.on > again.now().date() for event in await again.events(IBM, date(2020, 1, 1)))
    with pytest.raises(NotInSampleError):
        await again.fundamentals(parse_symbol("TSLA"))


async def test_what_is_imported_beside_the_start_is_never_looked_through_again() -> None:
    sample = load_sample()
    before = gc.get_freeze_count()
    await warm_up(SampleProvider(sample, load_facts(), sample_clock(sample, frozen=True)))
    assert gc.isenabled()
    assert gc.get_freeze_count() > before
    gc.unfreeze()
