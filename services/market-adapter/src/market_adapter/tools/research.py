"""get_fundamentals, and the two reports over several tickers: market_snapshot and fundamentals_events."""

from datetime import date, timedelta

from contracts.envelope import Snake
from contracts.market_rpc import TickerError
from contracts.symbols import Symbol
from contracts.tools.arguments import SymbolArguments, TickersArguments
from market_adapter.domain.facts import EventKind, Fundamentals
from market_adapter.domain.performance import BARS_READ, Performance, performance
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.series import series_of
from market_adapter.domain.splits import split_adjusted
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.tools.prices import BarData
from market_adapter.tools.shapes import Sourced, amount, number, per_ticker
from market_adapter.tools.tool import MarketTools, tool

TAIL_BARS = 20
"""Bars of the snapshot's window that are returned one by one: a model reads a tail, not a year."""
HORIZON = timedelta(days=120)
"""Dates are looked for this far ahead: a quarter and some days."""
PLACES = 6


class FundamentalsData(Sourced):
    """Output of get_fundamentals. Money in `currency`; margins and yield are fractions; null where unknown.
    `report_source` names the report that the figures of `period` are from."""

    symbol: str
    period: str
    pe: float | None
    eps: float | None
    revenue: float | None
    market_cap: float | None
    gross_margin: float | None
    net_margin: float | None
    dividend_yield: float | None
    beta: float | None
    currency: str
    report_source: str

    @classmethod
    def of(cls, symbol: Symbol, fundamentals: Fundamentals) -> "FundamentalsData":
        return cls(
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


class WindowData(Snake):
    """The bars of a snapshot summed up, and the last of them one by one."""

    first: date
    last: date
    bars: int
    open: float
    high: float
    low: float
    close: float
    volume: int | float
    tail: list[BarData]


class SnapshotData(Sourced):
    """One ticker of market_snapshot. Returns, drawdowns and volatility are fractions; null if the history is too
    short."""

    ohlcv: WindowData
    price: float
    currency: str
    returns: dict[str, float | None]
    max_drawdown: float
    current_drawdown: float
    volatility: float | None
    sma_20: float | None
    sma_50: float | None
    sma_200: float | None
    atr_14: float | None
    volume_zscore: float | None


class SnapshotsData(Sourced):
    """Output of market_snapshot."""

    tickers: dict[str, SnapshotData]
    errors: list[TickerError]


class EventsData(FundamentalsData):
    """One ticker of fundamentals_events: the figures, and the next dates; null if none is known. An `expected` date
    comes from a calendar and is not confirmed by the company."""

    next_earnings_date: date | None
    next_earnings_status: str | None
    next_dividend_date: date | None


class FundamentalsEventsData(Sourced):
    """Output of fundamentals_events."""

    tickers: dict[str, EventsData]
    errors: list[TickerError]


class ResearchTools(MarketTools):
    """Tools for figures about companies and their prices."""

    @tool
    async def get_fundamentals(self, arguments: SymbolArguments) -> FundamentalsData:
        """The latest published figures of one company."""
        symbol = requested_symbol(arguments.symbol)
        return FundamentalsData.of(symbol, await self._provider.fundamentals(symbol))

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
                tail=[BarData.of(bar) for bar in tail],
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
        figures = FundamentalsData.of(symbol, await self._provider.fundamentals(symbol))
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
