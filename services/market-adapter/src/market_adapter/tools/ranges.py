"""Figures of any period: get_performance, get_correlation, get_crossings, backtest_strategy.

Each returns typed figures {ticker, figure, value, from, to, asked}; nothing else may be said about them. `asked` is the
period as it was asked for; `from` and `to` are its first and last session.
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations
from typing import NamedTuple

from contracts.symbols import Symbol
from contracts.tools.market import (
    BacktestArguments,
    CrossingArguments,
    Every,
    RangeArguments,
    RelationArguments,
    StretchArguments,
)
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.backtest import BacktestResult, Trade, decisions, rule, run
from market_adapter.domain.bars import BarHistory, known_by
from market_adapter.domain.paper.order_text import figure
from market_adapter.domain.performance import first_day, months_before
from market_adapter.domain.ranges import (
    Stretch,
    beta,
    busiest,
    close_extremes,
    correlation,
    crossings,
    drawdowns,
    extremes,
    paired_returns,
    parts,
    running,
    streak,
    stretch,
    total_return,
    volatility,
    yearly,
)
from market_adapter.domain.series import Series, series_of
from market_adapter.domain.splits import adjustment, scale_price, split_adjusted
from market_adapter.errors import MarketError, NoDataError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.indicators import MOST_BARS
from market_adapter.tools.range_shapes import (
    BacktestData,
    BacktestTrade,
    CrossingData,
    CrossingsData,
    FallData,
    FigureData,
    FiguresData,
)
from market_adapter.tools.shapes import per_ticker
from market_adapter.tools.tool import tool

PLACES = 6
WARM_UP = 420
"""Days before a stretch that are asked for too: the base of its return, and averages of 250 sessions."""
FALLS = 3
HOLDING = "buy and hold"
MOST_CROSSINGS = 40
MOST_PARTS = 24


class AskedRange(NamedTuple):
    """A stretch, and how it was asked for."""

    first: date
    last: date
    words: str


class RangeTools:
    """Figures of stretches."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    @tool
    async def get_performance(self, asked: RangeArguments, language: str) -> FiguresData:
        """Measures how each ticker did from one day to another."""
        stretched = self._stretch(asked)
        first, last, _ = stretched
        found, errors = await per_ticker(asked.tickers, lambda symbol: self._one(symbol, first, last), language)
        figures: list[FigureData] = []
        falls: list[FallData] = []
        for name, (history, of) in found.items():
            figures += _figures(name, of, stretched.words, history, asked.top)
            figures += _put_in(name, of, stretched.words, history.currency, asked.amount) if asked.amount else []
            figures += _parts(name, of, stretched.words, asked.every, asked.top) if asked.every else []
            falls += [
                FallData(
                    ticker=name,
                    peak=d.peak,
                    trough=d.trough,
                    depth=round(d.depth, PLACES),
                    recovered=d.recovered,
                )
                for d in drawdowns(of, FALLS)
            ]
        return FiguresData(
            figures=figures, drawdowns=falls, errors=errors, source=self._provider.source, as_of=self._provider.now()
        )

    @tool
    async def get_correlation(self, asked: RelationArguments, language: str) -> FiguresData:
        """Measures how tickers moved together, and with a benchmark."""
        stretched = self._stretch(asked)
        first, last, _ = stretched
        names: list[str] = [*asked.tickers, *([asked.benchmark] if asked.benchmark else [])]
        found, errors = await per_ticker(names, lambda symbol: self._one(symbol, first, last), language)
        benchmark = asked_symbol(asked.benchmark).name if asked.benchmark else None
        figures: list[FigureData] = []
        for one, other in combinations(found, 2):
            value = correlation(*paired_returns(found[one][1], found[other][1]))
            figures.append(_of_both("correlation", value, found, one, other, stretched.words))
        if benchmark is not None and benchmark in found:
            for name in found:
                if name != benchmark:
                    value = beta(*paired_returns(found[name][1], found[benchmark][1]))
                    figures.append(_of_both("beta", value, found, name, benchmark, stretched.words))
        return FiguresData(figures=figures, errors=errors, source=self._provider.source, as_of=self._provider.now())

    @tool
    async def get_crossings(self, asked: CrossingArguments) -> CrossingsData:
        """Finds where a symbol's averages crossed."""
        stretched = self._stretch(asked)
        first, last, _ = stretched
        fast, slow = sorted((asked.fast, asked.slow))
        history, series = await self._series(asked_symbol(asked.symbol), first, last)
        found = crossings(series, fast, slow, first, last)[-MOST_CROSSINGS:]
        return CrossingsData(
            symbol=history.symbol.name, fast=fast, slow=slow, asked=stretched.words, currency=history.currency,
            crossings=[CrossingData(on=one.on, above=one.above, close=round(one.close, PLACES)) for one in found],
            source=history.source, as_of=history.as_of(self._provider.now()),
        )  # fmt: skip

    @tool
    async def backtest_strategy(self, asked: BacktestArguments, language: str) -> BacktestData:
        """A rule on one symbol's past, beside buying and holding."""
        stretched = self._stretch(asked)
        first, last, _ = stretched
        fast, slow = sorted((asked.fast, asked.slow))
        symbol = asked_symbol(asked.symbol)
        history, series = await self._series(symbol, first, last)
        of = stretch(series, first, last)
        start = next((i for i, day in enumerate(series.sessions) if day >= first), len(series))
        end = next((i for i, day in enumerate(series.sessions) if day > last), len(series))
        if of is None or start == 0 or end - start < 2:
            raise await self._nothing(symbol, first, last)
        bars = split_adjusted(history.bars, history.splits)[start:end]
        cash, percent = Decimal(str(asked.cash)), Decimal(str(asked.cost_percent))
        outcomes: dict[str, BacktestResult] = {}
        for name in (asked.rule, "buy_and_hold"):
            wanted = decisions(rule(name, fast, slow), series.close[: end - 1], start - 1)
            outcomes[name] = run(bars, wanted, cash, percent / 100)
        done, costs = outcomes[asked.rule], figure(percent).in_language(language)
        figures = [
            one
            for name, outcome in outcomes.items()
            for one in _outcome(history, of, stretched.words, outcome, cash, None if name == asked.rule else HOLDING)
        ]
        return BacktestData(
            symbol=symbol.name, rule=asked.rule, figures=figures, trade_count=len(done.trades),
            trades=[_trade(one) for one in done.trades[-20:]],
            assumptions=[
                TEXTS[f"backtest.{name}"].in_language(language).format(fast=fast, slow=slow, cost=costs)
                for name in (asked.rule, "costs", "prices")
            ],
            source=history.source, as_of=history.as_of(self._provider.now()),
        )  # fmt: skip

    def _stretch(self, asked: StretchArguments) -> AskedRange:
        """Returns the requested period; by default the year up to now."""
        last = asked.end or self._provider.now().date()
        if asked.start is not None or asked.period is None:
            first = asked.start or months_before(last, 12) + timedelta(days=1)
            return AskedRange(first, last, f"{first}/{last}" if asked.end else f"{first}/" if asked.start else "1y")
        first = first_day(asked.period, last)
        if asked.end:
            return AskedRange(first, last, f"{first}/{last}")
        counted = asked.period == "ytd" or asked.period[0].isdigit()
        return AskedRange(first, last, asked.period if counted else f"{first}/")

    async def _series(self, symbol: Symbol, first: date, last: date) -> tuple[BarHistory, Series]:
        days = max((self._provider.now().date() - first).days, 0) + WARM_UP
        history = known_by(await self._provider.daily_history(symbol, days), last)
        return history, series_of(history)

    async def _one(self, symbol: Symbol, first: date, last: date) -> tuple[BarHistory, Stretch]:
        history, series = await self._series(symbol, first, last)
        of = stretch(series, first, last)
        if of is None:
            raise await self._nothing(symbol, first, last)
        return history, of

    async def _nothing(self, symbol: Symbol, first: date, last: date) -> MarketError:
        known = await self._provider.daily_history(symbol, MOST_BARS)
        have = f"{known.bars[0].session} – {known.last.session}"
        text = TEXTS["range.too_few_sessions"].format(symbol=symbol, first=first, last=last, have=have)
        return NoDataError(symbol.name, text)


def _trade(trade: Trade) -> BacktestTrade:
    price, quantity, cost = float(trade.price), float(trade.quantity), float(trade.cost)
    return BacktestTrade(on=trade.on, side=trade.side, price=price, quantity=quantity, cost=cost)


def _figure(
    ticker: str, name: str, value: float | None, of: Stretch, asked: str, *, on: date | None = None,
    other: str | None = None, currency: str | None = None, places: int = PLACES,
) -> FigureData:  # fmt: skip
    return FigureData(
        ticker=ticker, figure=name, value=None if value is None else round(value, places), first=of.first, last=of.last,
        asked=asked, on=on, other=other, currency=currency,
    )  # fmt: skip


def _of_both(
    name: str, value: float | None, found: Mapping[str, tuple[BarHistory, Stretch]], one: str, other: str, asked: str
) -> FigureData:
    """A figure of two tickers, over the days that both have."""
    mine, others = found[one][1], found[other][1]
    days = {"first": max(mine.first, others.first), "last": min(mine.last, others.last)}
    return _figure(one, name, value, mine, asked, other=other).model_copy(update=days)


def _figures(ticker: str, of: Stretch, asked: str, history: BarHistory, top: int) -> list[FigureData]:
    falls, currency = drawdowns(of, 1), history.currency
    moves = of.returns
    found = [
        _figure(ticker, "return", total_return(of), of, asked),
        _figure(ticker, "max_drawdown", falls[0].depth if falls else 0.0, of, asked),
        _figure(ticker, "volatility", volatility(of), of, asked),
        _figure(ticker, "high", of.high.value, of, asked, on=of.high.on, currency=currency),
        _figure(ticker, "low", of.low.value, of, asked, on=of.low.on, currency=currency),
        _figure(ticker, "base", float(of.close[0]), of, asked, on=of.days[0], currency=currency),
        _figure(ticker, "close", float(of.close[-1]), of, asked, on=of.last, currency=currency),
        _figure(ticker, "current_drawdown", float(of.close[-1] / of.close.max() - 1), of, asked),
        _figure(ticker, "up_days", int((moves > 0).sum()), of, asked),
        _figure(ticker, "down_days", int((moves < 0).sum()), of, asked),
        _figure(ticker, "dividends", sum(paid for _, paid in _dividends(history, of)), of, asked, currency=currency),
    ]
    for name, rising in (("up_streak", True), ("down_streak", False)):
        if run_of := streak(of, rising=rising):
            first, last, count = run_of
            one = _figure(ticker, name, count, of, asked, on=first)
            found.append(one.model_copy(update={"first": first, "last": last}))
    if now := running(of):
        one = _figure(ticker, "up_run" if now[1] > 0 else "down_run", abs(now[1]), of, asked, on=now[0])
        found.append(one.model_copy(update={"first": now[0]}))
    for name, end in zip(("highest_close", "lowest_close"), close_extremes(of), strict=True):
        found.append(_figure(ticker, name, end.value, of, asked, on=end.on, currency=currency))
    most = busiest(of)
    found.append(_figure(ticker, "average_volume", float(of.volume.mean()), of, asked, places=0))
    found.append(_figure(ticker, "highest_volume", most.value, of, asked, on=most.on, places=0))
    gains = {"cagr": total_return(of), "total_cagr": _with_dividends(history, of)}
    found.append(_figure(ticker, "total_return", gains["total_cagr"], of, asked))
    for name, gained in gains.items():
        if (rate := yearly(of, gained)) is not None:
            found.append(_figure(ticker, name, rate, of, asked))
    for name, days in zip(("best_day", "worst_day"), extremes(of, top), strict=True):
        found += [_figure(ticker, name, move, of, asked, on=on) for on, move in days]
    return found


def _put_in(ticker: str, of: Stretch, words: str, currency: str, amount: float) -> list[FigureData]:
    """Returns what an amount that was put in at the base has become, and how many shares that was."""
    grown = amount * (1 + total_return(of))
    return [
        _figure(ticker, "growth", grown, of, words, currency=currency, places=2),
        _figure(ticker, "shares", amount / float(of.close[0]), of, words, places=4),
    ]


def _dividends(history: BarHistory, of: Stretch) -> list[tuple[date, float]]:
    """Returns the dividends whose ex-dates lie in the period, for a share of the last session."""
    last = history.last.session
    return [
        (one.on, float(scale_price(one.amount, adjustment(history.splits, one.on, last))))
        for one in history.dividends
        if of.first <= one.on <= of.last
    ]


def _with_dividends(history: BarHistory, of: Stretch) -> float:
    """The return with each dividend put into more shares at the close of its ex-date."""
    grown = 1 + total_return(of)
    for on, paid in _dividends(history, of):
        grown *= 1 + paid / float(of.close[bisect_left(of.days, on)])
    return grown - 1


def _parts(ticker: str, of: Stretch, asked: str, every: Every, top: int) -> list[FigureData]:
    """The returns of the newest parts, and which were the best and the worst, the furthest first."""
    cut = parts(of, every)
    told = [(one, total_return(one)) for one in cut]
    found = [
        _figure(ticker, f"{every}_return", value, one, f"{one.first}/{one.last}") for one, value in told[-MOST_PARTS:]
    ]
    for name, sign in (("best", -1), ("worst", 1)):
        for one, value in sorted(told, key=lambda pair: sign * pair[1])[:top]:
            found.append(_figure(ticker, f"{name}_{every}", value, one, asked, on=one.first))
    for name, count in (("up", sum(value > 0 for _, value in told)), ("down", sum(value < 0 for _, value in told))):
        found.append(_figure(ticker, f"{name}_{every}s", count, of, asked))
    return found


def _outcome(
    history: BarHistory, of: Stretch, asked: str, outcome: BacktestResult, cash: Decimal, other: str | None
) -> list[FigureData]:
    equity = [float(cash), *(float(value) for value in outcome.equity)]
    peak, deepest = equity[0], 0.0
    for value in equity:
        peak = max(peak, value)
        deepest = min(deepest, value / peak - 1)
    values = {
        "return": equity[-1] / equity[0] - 1,
        "max_drawdown": deepest,
        "exposure": outcome.held / len(outcome.equity),
        "final": equity[-1],
        "costs": float(sum(trade.cost for trade in outcome.trades)),
    }
    return [
        _figure(history.symbol.name, name, value, of, asked, other=other, currency=history.currency)
        for name, value in values.items()
    ]
