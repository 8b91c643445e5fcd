"""The provider `demo`: the sample moved in time so that it ends today, and made series beside it: 30 symbols.

Recorded bars keep order and prices; their dates are those of the exchange's sessions up to today, one for one. What
a company reported, and when, is moved with them. Made series are a random walk that follows the recorded stocks as far
as each one's `beta` says: nobody's prices, and every answer about them says so (`source`: demo-made).
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from statistics import NormalDist, fmean

from contracts.text import Text
from market_adapter.adapters.sample_facts import SampleFacts, load_facts
from market_adapter.adapters.sample_files import OPENS, SampleData, SampleSeries, load_sample, utc
from market_adapter.adapters.sample_replay import following_sessions
from market_adapter.domain.bars import Bar
from market_adapter.domain.splits import split_adjusted
from market_adapter.texts import TEXTS

SOURCE, RECORDED, MADE = "demo", "demo-recorded", "demo-made"
MADE_SESSIONS = 1260
"""Five years of them."""
SESSIONS_A_YEAR = 252
FOLLOWED = ("AAPL", "GOOG", "IBM", "MSFT")
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class SeriesWalk:
    """How an invented series moves: `own` is the part of a year's volatility that it does not share with others;
    `drift` is a year's too."""

    start: float
    beta: float
    own: float
    drift: float
    volume: int


WALKS: Mapping[str, SeriesWalk] = {
    "AMZN": SeriesWalk(90, 1.1, 0.20, 0.08, 45_000_000),
    "BAC": SeriesWalk(28, 1.0, 0.18, 0.03, 40_000_000),
    "DIS": SeriesWalk(100, 0.9, 0.17, 0.01, 11_000_000),
    "INTC": SeriesWalk(45, 1.1, 0.22, -0.06, 42_000_000),
    "JNJ": SeriesWalk(150, 0.4, 0.10, 0.02, 7_000_000),
    "JPM": SeriesWalk(120, 0.9, 0.15, 0.06, 9_000_000),
    "KO": SeriesWalk(52, 0.4, 0.09, 0.03, 13_000_000),
    "MCD": SeriesWalk(220, 0.5, 0.10, 0.04, 3_000_000),
    "NFLX": SeriesWalk(350, 1.2, 0.30, 0.05, 5_000_000),
    "NVDA": SeriesWalk(40, 1.6, 0.32, 0.20, 250_000_000),
    "ORCL": SeriesWalk(75, 0.9, 0.16, 0.06, 9_000_000),
    "PG": SeriesWalk(130, 0.4, 0.10, 0.03, 6_500_000),
    "TSLA": SeriesWalk(200, 1.5, 0.40, 0.05, 95_000_000),
    "V": SeriesWalk(200, 0.8, 0.12, 0.05, 6_000_000),
    "WMT": SeriesWalk(48, 0.5, 0.12, 0.06, 17_000_000),
    "XOM": SeriesWalk(60, 0.6, 0.18, 0.05, 16_000_000),
    "^GSPC": SeriesWalk(4000, 0.6, 0.03, 0.02, 3_900_000_000),
    "^IXIC": SeriesWalk(12000, 0.8, 0.04, 0.03, 5_000_000_000),
    "GLD": SeriesWalk(170, 0.0, 0.13, 0.05, 7_000_000),
    "QQQ": SeriesWalk(300, 0.8, 0.04, 0.03, 45_000_000),
    "SPY": SeriesWalk(400, 0.6, 0.03, 0.02, 75_000_000),
    "TLT": SeriesWalk(120, -0.1, 0.12, -0.02, 30_000_000),
    "BTC/USD": SeriesWalk(30000, 0.6, 0.50, 0.15, 25_000),
    "ETH/USD": SeriesWalk(1800, 0.8, 0.60, 0.10, 300_000),
    "SOL/USD": SeriesWalk(60, 1.0, 0.80, 0.10, 5_000_000),
}
"""16 stocks, 2 indexes, 4 funds and 3 pairs, by the symbols that people ask for."""


def last_session(now: datetime) -> date:
    """The newest session of the exchange that has closed by then."""
    days, closes = _sessions(load_sample(), now.date() + timedelta(days=10))
    return days[bisect_right(closes, now) - 1]


def load_demo(ends: date) -> tuple[SampleData, SampleFacts]:
    """The data, whose last session is `ends`: the same in every replica."""
    sample = load_sample()
    # Two years ahead: what was expected after the last recorded session has dates too.
    days, closes = _sessions(sample, ends + timedelta(days=730))
    shift = bisect_left(days, ends) - (len(sample.sessions) - 1)
    count = len(sample.sessions)

    def moved(day: date) -> date:
        return days[min(bisect_left(days, day) + shift, len(days) - 1)]

    moves = _market_moves(sample)
    made = {name: _made(name, walk, sample, moves) for name, walk in WALKS.items()}
    hours = [(days[place], utc(days[place], OPENS), closes[place]) for place in range(shift, shift + count)]
    series: dict[str, SampleSeries] = {}
    for name, one in {**sample.series, **made}.items():
        series[name] = replace(
            one,
            bars=tuple(
                replace(bar, session=day, time=opens, end=close)
                for bar, (day, opens, close) in zip(one.bars, hours[one.first :], strict=True)
            ),
            splits=tuple(replace(split, on=moved(split.on)) for split in one.splits),
            dividends=tuple(replace(dividend, on=moved(dividend.on)) for dividend in one.dividends),
            source=MADE if name in made else RECORDED,
        )
    data = SampleData(tuple(days[shift : shift + count]), tuple(closes[shift : shift + count]), series)
    facts = load_facts()
    reports = {
        name: tuple(replace(one, published=moved(one.published)) for one in found)
        for name, found in facts.reports.items()
    }
    headlines = {
        name: tuple(
            replace(one, published=datetime.combine(moved(one.published.date()), time(23, 59), UTC)) for one in found
        )
        for name, found in facts.headlines.items()
    }
    events = [replace(one, on=moved(one.on), published=moved(one.published)) for one in facts.events]
    return data, SampleFacts(reports, headlines, events)


def demo_note(ends: date) -> Text:
    """The note in every answer."""
    recorded = ", ".join(sorted(load_sample().series))
    return TEXTS["sample.demo_note"].format(recorded=recorded, ends=ends)


def _sessions(sample: SampleData, until: date) -> tuple[list[date], list[datetime]]:
    """The exchange's sessions from the first recorded one on, and when they closed."""
    days, closes, following = list(sample.sessions), list(sample.closes), following_sessions()
    while days[-1] < until:
        day, close = following(days[-1])
        days.append(day)
        closes.append(close)
    return days, closes


def _made(name: str, walk: SeriesWalk, sample: SampleData, moves: Sequence[float]) -> SampleSeries:
    """A random walk over the last sessions: the same numbers wherever and whenever it is made."""
    chance, normal = Random(f"nexus demo {name}"), NormalDist()

    def draw() -> float:
        return normal.inv_cdf(min(max(chance.random(), 1e-9), 1 - 1e-9))

    daily_own, daily_drift = walk.own / math.sqrt(SESSIONS_A_YEAR), walk.drift / SESSIONS_A_YEAR
    bars: list[Bar] = []
    close = walk.start
    first = len(sample.sessions) - MADE_SESSIONS
    for place, market in enumerate(moves, start=first):
        before = close
        move = walk.beta * market + daily_own * draw() + daily_drift
        close = before * math.exp(move)
        opened = before * math.exp(move * 0.3 + daily_own * 0.2 * draw())
        reach = (abs(move) + daily_own) * 0.3
        high = max(opened, close) * math.exp(reach * chance.random())
        low = min(opened, close) * math.exp(-reach * chance.random())
        volume = round(walk.volume * math.exp(0.3 * draw() + 8 * abs(move)))
        # Dates and hours are given with those of the recorded series.
        day, end = sample.sessions[place], sample.closes[place]
        bars.append(Bar(day, end, end, _cents(opened), _cents(high), _cents(low), _cents(close), volume))
    return SampleSeries(name, first, tuple(bars), (), ())


def _market_moves(sample: SampleData) -> Sequence[float]:
    """The mean daily move of the followed stocks (of their logarithms), over the last sessions."""
    closes = [
        [float(bar.close) for bar in split_adjusted(one.bars, one.splits)[-MADE_SESSIONS - 1 :]]
        for one in (sample.series[name] for name in FOLLOWED)
    ]
    return [fmean(math.log(one[place] / one[place - 1]) for one in closes) for place in range(1, MADE_SESSIONS + 1)]


def _cents(price: float) -> Decimal:
    return max(Decimal(repr(price)).quantize(CENT), CENT)
