"""Figures of any period: get_performance, get_correlation, get_crossings, backtest_strategy.

Each returns typed figures {ticker, figure, value, from, to, asked}; an answer may state nothing else about them.
`asked` is the period as it was requested; `from` and `to` are its first and last session.
"""

from bisect import bisect_left
from collections.abc import Mapping
from datetime import date, timedelta
from decimal import Decimal
from functools import partial
from itertools import combinations
from typing import NamedTuple

from contracts.symbols import Symbol
from contracts.tools.ranges import (
    BacktestArguments,
    BacktestData,
    BacktestTrade,
    CrossingArguments,
    CrossingData,
    CrossingsData,
    Every,
    FallData,
    FigureData,
    FiguresData,
    RangeArguments,
    RelationArguments,
    StretchArguments,
)
from market_adapter.domain.backtest import BacktestResult, Trade, decisions, rule, run
from market_adapter.domain.bars import BarHistory, known_by
from market_adapter.domain.paper.order_text import figure
from market_adapter.domain.performance import first_day, months_before, volatility
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
    stretch_between,
    total_return,
    yearly,
)
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.series import Series, series_of
from market_adapter.domain.splits import adjustment, scale_price, split_adjusted
from market_adapter.errors import MarketError, NoDataError
from market_adapter.texts import TEXTS
from market_adapter.tools.indicators import MAX_BARS
from market_adapter.tools.shapes import per_ticker
from market_adapter.tools.tool import MarketTools, tool

PLACES = 6
WARM_UP_DAYS = 420
"""Days before a stretch that are read too: for the base of its return, and for averages of 250 sessions."""
MAX_DRAWDOWNS = 3
HOLDING = "buy and hold"
MAX_CROSSINGS = 40
MAX_PARTS = 24


class RequestedRange(NamedTuple):
    """The days of a stretch, and how they were requested."""

    first: date
    last: date
    words: str


class RangeTools(MarketTools):
    """Tools for figures of a period."""

    @tool
    async def get_performance(self, arguments: RangeArguments, language: str) -> FiguresData:
        """Measures how each ticker performed from one day to another."""
        requested = self._requested_range(arguments)
        first, last, _ = requested
        results, errors = await per_ticker(
            arguments.tickers, lambda symbol: self._stretch_of(symbol, first, last), language
        )
        figures: list[FigureData] = []
        falls: list[FallData] = []
        for name, (history, stretch) in results.items():
            figures += _figures(name, stretch, requested.words, history, arguments.top)
            if arguments.amount:
                figures += _growth_figures(name, stretch, requested.words, history.currency, arguments.amount)
            figures += _parts(name, stretch, requested.words, arguments)
            falls += [
                FallData(
                    ticker=name,
                    peak=drawdown.peak,
                    trough=drawdown.trough,
                    depth=round(drawdown.depth, PLACES),
                    recovered=drawdown.recovered,
                )
                for drawdown in drawdowns(stretch, MAX_DRAWDOWNS)
            ]
        return FiguresData(
            figures=figures, drawdowns=falls, errors=errors, source=self._provider.source, as_of=self._provider.now()
        )

    @tool
    async def get_correlation(self, arguments: RelationArguments, language: str) -> FiguresData:
        """Measures how tickers moved together, and with a benchmark."""
        requested = self._requested_range(arguments)
        first, last, _ = requested
        names: list[str] = [*arguments.tickers, *([arguments.benchmark] if arguments.benchmark else [])]
        results, errors = await per_ticker(names, lambda symbol: self._stretch_of(symbol, first, last), language)
        benchmark = requested_symbol(arguments.benchmark).name if arguments.benchmark else None
        figures: list[FigureData] = []
        for ticker, other in combinations(results, 2):
            value = correlation(*paired_returns(results[ticker][1], results[other][1], arguments.every))
            figures.append(_pair_figure("correlation", value, results, ticker, other, requested.words, arguments.every))
        if benchmark is not None and benchmark in results:
            for name in results:
                if name != benchmark:
                    value = beta(*paired_returns(results[name][1], results[benchmark][1], arguments.every))
                    figures.append(
                        _pair_figure("beta", value, results, name, benchmark, requested.words, arguments.every)
                    )
        return FiguresData(figures=figures, errors=errors, source=self._provider.source, as_of=self._provider.now())

    @tool
    async def get_crossings(self, arguments: CrossingArguments) -> CrossingsData:
        """Finds where a symbol's averages crossed."""
        requested = self._requested_range(arguments)
        first, last, _ = requested
        fast, slow = sorted((arguments.fast, arguments.slow))
        history, series = await self._series(requested_symbol(arguments.symbol), first, last)
        crossings_found = crossings(series, fast, slow, first, last)[-MAX_CROSSINGS:]
        return CrossingsData(
            symbol=history.symbol.name, fast=fast, slow=slow, asked=requested.words, currency=history.currency,
            crossings=[CrossingData(on=x.on, above=x.above, close=round(x.close, PLACES)) for x in crossings_found],
            source=history.source, as_of=history.as_of(self._provider.now()),
        )  # fmt: skip

    @tool
    async def backtest_strategy(self, arguments: BacktestArguments, language: str) -> BacktestData:
        """Applies a rule to one symbol's past, and compares it with buying and holding."""
        requested = self._requested_range(arguments)
        first, last, _ = requested
        fast, slow = sorted((arguments.fast, arguments.slow))
        symbol = requested_symbol(arguments.symbol)
        history, series = await self._series(symbol, first, last)
        stretch = stretch_between(series, first, last)
        start = next((index for index, day in enumerate(series.sessions) if day >= first), len(series))
        end = next((index for index, day in enumerate(series.sessions) if day > last), len(series))
        if stretch is None or start == 0 or end - start < 2:
            raise await self._too_few_sessions(symbol, first, last)
        bars = split_adjusted(history.bars, history.splits)[start:end]
        cash, percent = Decimal(str(arguments.cash)), Decimal(str(arguments.cost_percent))
        outcomes: dict[str, BacktestResult] = {}
        for name in (arguments.rule, "buy_and_hold"):
            holds = decisions(rule(name, fast, slow), series.close[: end - 1], start - 1)
            outcomes[name] = run(bars, holds, cash, percent / 100)
        result, costs = outcomes[arguments.rule], figure(percent).in_language(language)
        figures = [
            row
            for name, outcome in outcomes.items()
            for row in _outcome(
                history, stretch, requested.words, outcome, cash, None if name == arguments.rule else HOLDING
            )
        ]
        return BacktestData(
            symbol=symbol.name, rule=arguments.rule, figures=figures, trade_count=len(result.trades),
            trades=[_trade(trade) for trade in result.trades[-20:]],
            assumptions=[
                TEXTS[f"backtest.{name}"].in_language(language).format(fast=fast, slow=slow, cost=costs)
                for name in (arguments.rule, "costs", "prices")
            ],
            source=history.source, as_of=history.as_of(self._provider.now()),
        )  # fmt: skip

    def _requested_range(self, arguments: StretchArguments) -> RequestedRange:
        """The requested days; by default the year up to now."""
        last = arguments.end or self._provider.now().date()
        if arguments.start is not None or arguments.period is None:
            first = arguments.start or months_before(last, 12) + timedelta(days=1)
            return RequestedRange(
                first, last, f"{first}/{last}" if arguments.end else f"{first}/" if arguments.start else "1y"
            )
        first = first_day(arguments.period, last)
        if arguments.end:
            return RequestedRange(first, last, f"{first}/{last}")
        is_named = arguments.period == "ytd" or arguments.period[0].isdigit()
        return RequestedRange(first, last, arguments.period if is_named else f"{first}/")

    async def _series(self, symbol: Symbol, first: date, last: date) -> tuple[BarHistory, Series]:
        days = max((self._provider.now().date() - first).days, 0) + WARM_UP_DAYS
        history = known_by(await self._provider.daily_history(symbol, days), last)
        return history, series_of(history)

    async def _stretch_of(self, symbol: Symbol, first: date, last: date) -> tuple[BarHistory, Stretch]:
        history, series = await self._series(symbol, first, last)
        stretch = stretch_between(series, first, last)
        if stretch is None:
            raise await self._too_few_sessions(symbol, first, last)
        return history, stretch

    async def _too_few_sessions(self, symbol: Symbol, first: date, last: date) -> MarketError:
        history = await self._provider.daily_history(symbol, MAX_BARS)
        available = f"{history.bars[0].session} – {history.last.session}"
        text = TEXTS["range.too_few_sessions"].format(symbol=symbol, first=first, last=last, have=available)
        return NoDataError(symbol.name, text)


def _trade(trade: Trade) -> BacktestTrade:
    price, quantity, cost = float(trade.price), float(trade.quantity), float(trade.cost)
    return BacktestTrade(on=trade.on, side=trade.side, price=price, quantity=quantity, cost=cost)


def _figure(
    ticker: str, name: str, value: float | None, stretch: Stretch, requested: str, *, on: date | None = None,
    other: str | None = None, currency: str | None = None, places: int = PLACES,
) -> FigureData:  # fmt: skip
    return FigureData(
        ticker=ticker, figure=name, value=None if value is None else round(value, places), first=stretch.first,
        last=stretch.last, asked=requested, on=on, other=other, currency=currency,
    )  # fmt: skip


def _pair_figure(
    name: str,
    value: float | None,
    results: Mapping[str, tuple[BarHistory, Stretch]],
    ticker: str,
    other: str,
    requested: str,
    every: Every | None,
) -> FigureData:
    """A figure of two tickers, over the days that both have; of the returns of each week, … if `every` says so."""
    first_stretch, second_stretch = results[ticker][1], results[other][1]
    fields = {
        "first": max(first_stretch.first, second_stretch.first),
        "last": min(first_stretch.last, second_stretch.last),
        "label": every,
    }
    return _figure(ticker, name, value, first_stretch, requested, other=other).model_copy(update=fields)


def _figures(ticker: str, stretch: Stretch, requested: str, history: BarHistory, top: int) -> list[FigureData]:
    falls, currency = drawdowns(stretch, 1), history.currency
    moves = stretch.returns
    measured = partial(_figure, ticker, stretch=stretch, requested=requested)
    figures = [
        measured("return", total_return(stretch)),
        measured("max_drawdown", falls[0].depth if falls else 0.0),
        measured("volatility", volatility(stretch.close)),
        measured("high", stretch.high.value, on=stretch.high.on, currency=currency),
        measured("low", stretch.low.value, on=stretch.low.on, currency=currency),
        measured("base", float(stretch.close[0]), on=stretch.days[0], currency=currency),
        measured("close", float(stretch.close[-1]), on=stretch.last, currency=currency),
        measured("current_drawdown", float(stretch.close[-1] / stretch.close.max() - 1)),
        measured("up_days", int((moves > 0).sum())),
        measured("down_days", int((moves < 0).sum())),
        measured("dividends", sum(paid for _, paid in _dividends(history, stretch)), currency=currency),
    ]
    for name, rising in (("up_streak", True), ("down_streak", False)):
        if longest_run := streak(stretch, rising=rising):
            first, last, count = longest_run
            figures.append(measured(name, count, on=first).model_copy(update={"first": first, "last": last}))
    if current_run := running(stretch):
        first, count = current_run
        run_figure = measured("up_run" if count > 0 else "down_run", abs(count), on=first)
        figures.append(run_figure.model_copy(update={"first": first}))
    for name, end in zip(("highest_close", "lowest_close"), close_extremes(stretch), strict=True):
        figures.append(measured(name, end.value, on=end.on, currency=currency))
    busiest_day = busiest(stretch)
    figures.append(measured("average_volume", float(stretch.volume.mean()), places=0))
    figures.append(measured("highest_volume", busiest_day.value, on=busiest_day.on, places=0))
    gains = {"cagr": total_return(stretch), "total_cagr": _with_dividends(history, stretch)}
    figures.append(measured("total_return", gains["total_cagr"]))
    for name, total in gains.items():
        if (rate := yearly(stretch, total)) is not None:
            figures.append(measured(name, rate))
    for name, days in zip(("best_day", "worst_day"), extremes(stretch, top), strict=True):
        figures += [measured(name, move, on=on) for on, move in days]
    return figures


def _growth_figures(ticker: str, stretch: Stretch, requested: str, currency: str, amount: float) -> list[FigureData]:
    """What an amount invested at the base has become, and how many shares it bought."""
    value = amount * (1 + total_return(stretch))
    return [
        _figure(ticker, "growth", value, stretch, requested, currency=currency, places=2),
        _figure(ticker, "shares", amount / float(stretch.close[0]), stretch, requested, places=4),
    ]


def _dividends(history: BarHistory, stretch: Stretch) -> list[tuple[date, float]]:
    """The dividends with ex-dates in the stretch, for one share of the last session."""
    last = history.last.session
    return [
        (dividend.on, float(scale_price(dividend.amount, adjustment(history.splits, dividend.on, last))))
        for dividend in history.dividends
        if stretch.first <= dividend.on <= stretch.last
    ]


def _with_dividends(history: BarHistory, stretch: Stretch) -> float:
    """The return if each dividend is invested in more shares at the close of its ex-date."""
    growth = 1 + total_return(stretch)
    for day, paid in _dividends(history, stretch):
        growth *= 1 + paid / float(stretch.close[bisect_left(stretch.days, day)])
    return growth - 1


def _parts(ticker: str, stretch: Stretch, requested: str, arguments: RangeArguments) -> list[FigureData]:
    """The return or volatility of each of the newest parts, and the best and worst parts, the most extreme first."""
    if (every := arguments.every) is None:
        return []
    pieces = parts(stretch, every)
    returns = [(piece, total_return(piece)) for piece in pieces]
    is_return = arguments.parts == "returns"
    figures = [
        _figure(
            ticker,
            f"{every}_{'return' if is_return else 'volatility'}",
            value if is_return else volatility(piece.close),
            piece,
            f"{piece.first}/{piece.last}",
        )
        for piece, value in returns[-MAX_PARTS:]
    ]
    for name, sign in (("best", -1), ("worst", 1)):
        for piece, value in sorted(returns, key=lambda pair: sign * pair[1])[: arguments.top]:
            figures.append(_figure(ticker, f"{name}_{every}", value, piece, requested, on=piece.first))
    for name, count in (
        ("up", sum(value > 0 for _, value in returns)),
        ("down", sum(value < 0 for _, value in returns)),
    ):
        figures.append(_figure(ticker, f"{name}_{every}s", count, stretch, requested))
    return figures


def _outcome(
    history: BarHistory, stretch: Stretch, requested: str, outcome: BacktestResult, cash: Decimal, other: str | None
) -> list[FigureData]:
    equity = [float(cash), *(float(value) for value in outcome.equity)]
    peak, deepest = equity[0], 0.0
    for value in equity:
        peak = max(peak, value)
        deepest = min(deepest, value / peak - 1)
    values = {
        "return": equity[-1] / equity[0] - 1,
        "max_drawdown": deepest,
        "exposure": outcome.closes_held / len(outcome.equity),
        "final": equity[-1],
        "costs": float(sum(trade.cost for trade in outcome.trades)),
    }
    return [
        _figure(history.symbol.name, name, value, stretch, requested, other=other, currency=history.currency)
        for name, value in values.items()
    ]
