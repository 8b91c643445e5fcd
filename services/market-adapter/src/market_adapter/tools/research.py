"""get_fundamentals, and the two reports over several tickers: market_snapshot and fundamentals_events."""

from datetime import timedelta

from contracts.symbols import Symbol
from contracts.tools.arguments import SymbolArguments, TickersArguments
from contracts.tools.market import (
    EventsData,
    FundamentalsData,
    FundamentalsEventsData,
    SnapshotData,
    SnapshotsData,
    WindowData,
)
from market_adapter.domain.facts import EventKind, Fundamentals
from market_adapter.domain.performance import BARS_READ, Performance, performance
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.series import series_of
from market_adapter.domain.splits import split_adjusted
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.tools.prices import bar_data
from market_adapter.tools.shapes import amount, number, per_ticker
from market_adapter.tools.tool import MarketTools, tool

TAIL_BARS = 20
"""Bars of the snapshot's window that are returned one by one: a model reads a tail, not a year."""
HORIZON = timedelta(days=120)
"""Dates are looked for this far ahead: a quarter and some days."""
PLACES = 6


def fundamentals_data(symbol: Symbol, fundamentals: Fundamentals) -> FundamentalsData:
    """A company's figures as get_fundamentals returns them."""
    return FundamentalsData(
        symbol=symbol.name,
        period=fundamentals.period,
        pe=number(fundamentals.pe, 4),
        eps=number(fundamentals.eps, 4),
        revenue=number(fundamentals.revenue, 2),
        market_cap=number(fundamentals.market_cap, 2),
        gross_margin=number(fundamentals.gross_margin, PLACES),
        net_margin=number(fundamentals.net_margin, PLACES),
        dividend_yield=number(fundamentals.dividend_yield, PLACES),
        beta=number(fundamentals.beta, 4),
        currency=fundamentals.currency,
        report_source=fundamentals.report_source,
        source=fundamentals.source,
        as_of=fundamentals.as_of,
    )


class ResearchTools(MarketTools):
    """Tools for figures about companies and their prices."""

    @tool
    async def get_fundamentals(self, arguments: SymbolArguments) -> FundamentalsData:
        """The latest published figures of one company."""
        symbol = requested_symbol(arguments.symbol)
        return fundamentals_data(symbol, await self._provider.fundamentals(symbol))

    @tool
    async def market_snapshot(self, arguments: TickersArguments, language: str) -> SnapshotsData:
        """Measures how each ticker's price has moved."""
        tickers, errors = await per_ticker(arguments.tickers, self._snapshot, language)
        return SnapshotsData(tickers=tickers, errors=errors, source=self._provider.source, as_of=self._provider.now())

    @tool
    async def fundamentals_events(self, arguments: TickersArguments, language: str) -> FundamentalsEventsData:
        """Returns each ticker's figures and next dates."""
        tickers, errors = await per_ticker(arguments.tickers, self._events, language)
        return FundamentalsEventsData(
            tickers=tickers, errors=errors, source=self._provider.source, as_of=self._provider.now()
        )

    async def _snapshot(self, symbol: Symbol) -> SnapshotData:
        history = await self._provider.daily_history(symbol, BARS_READ)
        series = series_of(history)
        await load_ta_lib()
        figures: Performance = performance(series)
        window = series.tail(253)
        tail = split_adjusted(history.bars, history.splits)[-TAIL_BARS:]
        return SnapshotData(
            ohlcv=WindowData(
                first=window.sessions[0],
                last=window.sessions[-1],
                bars=len(window),
                open=float(window.open[0]),
                high=float(window.high.max()),
                low=float(window.low.min()),
                close=float(window.close[-1]),
                volume=amount(float(window.volume.sum())),
                tail=[bar_data(bar) for bar in tail],
            ),
            price=float(history.last.close),
            currency=history.currency,
            returns={name: number(value, PLACES) for name, value in figures.returns.items()},
            max_drawdown=round(figures.max_drawdown, PLACES),
            current_drawdown=round(figures.current_drawdown, PLACES),
            volatility=number(figures.volatility, PLACES),
            sma_20=number(figures.averages[20], PLACES),
            sma_50=number(figures.averages[50], PLACES),
            sma_200=number(figures.averages[200], PLACES),
            atr_14=number(figures.atr, PLACES),
            volume_zscore=number(figures.volume_zscore, PLACES),
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )

    async def _events(self, symbol: Symbol) -> EventsData:
        figures = fundamentals_data(symbol, await self._provider.fundamentals(symbol))
        upcoming = await self._provider.events(symbol, self._provider.now().date() + HORIZON)
        earnings = next((event for event in upcoming if event.kind is EventKind.EARNINGS), None)
        dividend = next((event for event in upcoming if event.kind is EventKind.DIVIDEND), None)
        status = None if earnings is None else "confirmed" if earnings.confirmed else "expected"
        return EventsData(
            **figures.model_dump(),
            next_earnings_date=None if earnings is None else earnings.on,
            next_earnings_status=status,
            next_dividend_date=None if dividend is None else dividend.on,
        )
