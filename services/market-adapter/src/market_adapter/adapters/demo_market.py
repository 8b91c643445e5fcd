"""The provider `demo`: the sample moved in time so that it ends today, plus invented series: 30 symbols in all.

Recorded bars keep their order and prices; their dates become those of the exchange's sessions up to today, one for one.
Companies' reports are moved with them. Invented series are random walks that follow the recorded stocks as far as each
one's `beta` says. They are not real prices, and every answer about them says so (`source`: demo-made).
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
"""Sessions of an invented series: five years."""
SESSIONS_PER_YEAR = 252
FOLLOWED = ("AAPL", "GOOG", "IBM", "MSFT")
CENT = Decimal("0.01")


@dataclass(frozen=True, slots=True)
class SeriesWalk:
    """The parameters of an invented series. `own`: the part of its yearly volatility that it does not share with
    others; `drift` is yearly too."""

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
"""16 stocks, 2 indexes, 4 funds and 3 pairs that people often ask for."""


def last_session(now: datetime) -> date:
    """The exchange's newest session that has closed by then."""
    days, closes = _sessions(load_sample(), now.date() + timedelta(days=10))
    return days[bisect_right(closes, now) - 1]


def load_demo(last_day: date) -> tuple[SampleData, SampleFacts]:
    """The data and facts whose last session is `last_day`: the same in every replica."""
    sample = load_sample()
    # Two years ahead, for the dates of events that were expected after the last recorded session.
    days, closes = _sessions(sample, last_day + timedelta(days=730))
    shift = bisect_left(days, last_day) - (len(sample.sessions) - 1)
    count = len(sample.sessions)

    def moved(day: date) -> date:
        return days[min(bisect_left(days, day) + shift, len(days) - 1)]

    market_moves = _market_moves(sample)
    made_series = {name: _make_series(name, walk, sample, market_moves) for name, walk in WALKS.items()}
    hours = [(days[index], utc(days[index], OPENS), closes[index]) for index in range(shift, shift + count)]
    series: dict[str, SampleSeries] = {}
    for name, template in {**sample.series, **made_series}.items():
        series[name] = replace(
            template,
            bars=tuple(
                replace(bar, session=day, time=opens, end=close)
                for bar, (day, opens, close) in zip(template.bars, hours[template.first :], strict=True)
            ),
            splits=tuple(replace(split, on=moved(split.on)) for split in template.splits),
            dividends=tuple(replace(dividend, on=moved(dividend.on)) for dividend in template.dividends),
            source=MADE if name in made_series else RECORDED,
        )
    data = SampleData(tuple(days[shift : shift + count]), tuple(closes[shift : shift + count]), series)
    facts = load_facts()
    reports = {
        name: tuple(replace(report, published=moved(report.published)) for report in reports_of_ticker)
        for name, reports_of_ticker in facts.reports.items()
    }
    headlines = {
        name: tuple(
            replace(headline, published=datetime.combine(moved(headline.published.date()), time(23, 59), UTC))
            for headline in headlines_of_ticker
        )
        for name, headlines_of_ticker in facts.headlines.items()
    }
    events = [replace(event, on=moved(event.on), published=moved(event.published)) for event in facts.events]
    return data, SampleFacts(reports, headlines, events)


def demo_note(last_day: date) -> Text:
    """The note that every answer contains."""
    recorded = ", ".join(sorted(load_sample().series))
    return TEXTS["sample.demo_note"].format(recorded=recorded, ends=last_day)


def _sessions(sample: SampleData, until: date) -> tuple[list[date], list[datetime]]:
    """The exchange's sessions from the first recorded one up to `until`, and when they closed."""
    days, closes, following = list(sample.sessions), list(sample.closes), following_sessions()
    while days[-1] < until:
        day, close = following(days[-1])
        days.append(day)
        closes.append(close)
    return days, closes


def _make_series(name: str, walk: SeriesWalk, sample: SampleData, moves: Sequence[float]) -> SampleSeries:
    """A random walk over the last sessions, with the same numbers wherever and whenever it is computed."""
    generator, normal = Random(f"nexus demo {name}"), NormalDist()

    def draw() -> float:
        return normal.inv_cdf(min(max(generator.random(), 1e-9), 1 - 1e-9))

    daily_own, daily_drift = walk.own / math.sqrt(SESSIONS_PER_YEAR), walk.drift / SESSIONS_PER_YEAR
    bars: list[Bar] = []
    close = walk.start
    first = len(sample.sessions) - MADE_SESSIONS
    for index, market_move in enumerate(moves, start=first):
        previous = close
        move = walk.beta * market_move + daily_own * draw() + daily_drift
        close = previous * math.exp(move)
        opened = previous * math.exp(move * 0.3 + daily_own * 0.2 * draw())
        spread = (abs(move) + daily_own) * 0.3
        high = max(opened, close) * math.exp(spread * generator.random())
        low = min(opened, close) * math.exp(-spread * generator.random())
        volume = round(walk.volume * math.exp(0.3 * draw() + 8 * abs(move)))
        # Final dates and hours are set together with those of the recorded series.
        day, end = sample.sessions[index], sample.closes[index]
        bars.append(Bar(day, end, end, _cents(opened), _cents(high), _cents(low), _cents(close), volume))
    return SampleSeries(name, first, tuple(bars), (), ())


def _market_moves(sample: SampleData) -> Sequence[float]:
    """The mean daily move of the followed stocks (of the logarithms of their prices) over the last sessions."""
    closes = [
        [float(bar.close) for bar in split_adjusted(series.bars, series.splits)[-MADE_SESSIONS - 1 :]]
        for series in (sample.series[name] for name in FOLLOWED)
    ]
    return [
        fmean(math.log(series_closes[index] / series_closes[index - 1]) for series_closes in closes)
        for index in range(1, MADE_SESSIONS + 1)
    ]


def _cents(price: float) -> Decimal:
    return max(Decimal(repr(price)).quantize(CENT), CENT)
