"""The demo market: thirty symbols that end today, each saying what it is; recorded prices on moved dates."""

from datetime import UTC, date, datetime, timedelta
from functools import cache

from contracts.symbols import parse_symbol
from market_adapter.adapters.demo_market import WALKS, demo_note, last_session, load_demo
from market_adapter.adapters.sample_facts import SampleFacts
from market_adapter.adapters.sample_files import SampleData, load_sample
from market_adapter.adapters.sample_provider import SampleProvider
from market_adapter.app import sample_clock
from market_adapter.domain.sample_clock import SampleClock

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)  # a Sunday
ENDS = date(2026, 11, 20)


@cache
def demo() -> tuple[SampleData, SampleFacts]:
    """Made when the first test wants it: who only collects the tests waits for nothing."""
    return load_demo(ENDS)


def market(*, ahead: int = 0) -> SampleProvider:
    """The market at its end, or so many sessions after it."""
    clock: SampleClock = sample_clock(demo()[0], frozen=False)
    for _ in range(120 + ahead):
        clock.move_to(clock.next_session)
    return SampleProvider(*demo(), clock, "demo", demo_note(ENDS))


def test_it_ends_with_the_newest_session_that_has_closed() -> None:
    assert last_session(NOW) == ENDS
    assert last_session(datetime(2026, 11, 20, 20, 59, tzinfo=UTC)) == ENDS - timedelta(days=1)
    assert last_session(datetime(2026, 11, 20, 21, 0, tzinfo=UTC)) == ENDS
    # Thanksgiving is closed, the day after ends early.
    assert last_session(datetime(2026, 11, 26, 23, tzinfo=UTC)) == date(2026, 11, 25)
    assert last_session(datetime(2026, 11, 27, 18, tzinfo=UTC)) == date(2026, 11, 27)


async def test_thirty_symbols_each_say_what_they_are() -> None:
    assert len(demo()[0].series) == 30
    now = market()
    for name in demo()[0].series:
        quote = await now.quote(parse_symbol(name))
        assert quote.source == ("demo-made" if name in WALKS else "demo-recorded")
        assert quote.as_of == datetime(2026, 11, 20, 21, tzinfo=UTC)
    note = now.note()
    assert note is not None
    assert "nobody's prices" in note.in_language("en")
    assert "2026-11-20" in note.in_language("es")
    later = market(ahead=3).note()
    assert later is not None
    assert str(later).startswith(str(note))
    assert "played again" in later.in_language("en")


async def test_recorded_bars_keep_their_prices_and_order_on_moved_dates() -> None:
    for name, recorded in load_sample().series.items():
        moved = demo()[0].series[name]
        assert [(bar.open, bar.close, bar.volume) for bar in moved.bars] == [
            (bar.open, bar.close, bar.volume) for bar in recorded.bars
        ]
        assert moved.bars[-1].session == ENDS
        places = {bar.session: place for place, bar in enumerate(recorded.bars)}
        for before, after in zip(recorded.splits + recorded.dividends, moved.splits + moved.dividends, strict=True):
            if before.on in places:
                assert moved.bars[places[before.on]].session == after.on
    assert len(set(demo()[0].sessions)) == len(load_sample().sessions)
    assert all(day.weekday() < 5 for day in demo()[0].sessions)


async def test_what_was_published_is_moved_too_and_stays_in_its_time() -> None:
    ibm = parse_symbol("IBM")
    headlines = await market().headlines(ibm, 5)
    assert ENDS - timedelta(days=90) < headlines[0].published.date() <= ENDS
    (results, *_) = await market().events(ibm, ENDS + timedelta(days=100))
    assert ENDS < results.on < ENDS + timedelta(days=100)
    figures = await market().fundamentals(ibm)
    assert (str(figures.eps), figures.source) == ("14.37", "demo-recorded")


def test_made_series_are_the_same_everywhere_and_whole() -> None:
    again, _ = load_demo(date(2199, 6, 3))  # any day can be the last
    assert again.sessions[-1] == date(2199, 6, 3)
    for name in WALKS:
        bars = demo()[0].series[name].bars
        assert [one.close for one in again.series[name].bars] == [bar.close for bar in bars]
        assert len(bars) == 1260
        for bar in bars:
            assert 0 < bar.low <= min(bar.open, bar.close)
            assert max(bar.open, bar.close) <= bar.high
    # Written down once: another release, another machine make the same.
    assert [str(again.series[name].bars[-1].close) for name in ("SPY", "BTC/USD")] == ["637.28", "57179.93"]
