"""Tools about the market (prices, bars, indicators, companies, hours): their arguments and results."""

from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from contracts.envelope import Snake
from contracts.market_rpc import TickerError
from contracts.tools.arguments import Day, SymbolArguments
from contracts.tools.results import (
    NOT_REQUIRED,
    Fall,
    NonEmpty,
    Number,
    OptionallySourced,
    Price,
    Sourced,
    Spread,
    Volume,
)


class Timeframe(StrEnum):
    """The length of a bar."""

    M1 = "1m"
    M5 = "5m"
    M15 = "15m"
    H1 = "1h"
    H4 = "4h"
    D1 = "1d"
    W1 = "1w"

    @property
    def length(self) -> timedelta:
        """The length of a bar by the clock (a session's last bar may be shorter)."""
        return _LENGTHS[self]

    @property
    def intraday(self) -> bool:
        """Whether a session has several bars."""
        return self.length < timedelta(days=1)


_LENGTHS = {
    Timeframe.M1: timedelta(minutes=1),
    Timeframe.M5: timedelta(minutes=5),
    Timeframe.M15: timedelta(minutes=15),
    Timeframe.H1: timedelta(hours=1),
    Timeframe.H4: timedelta(hours=4),
    Timeframe.D1: timedelta(days=1),
    Timeframe.W1: timedelta(days=7),
}


class Indicator(StrEnum):
    """The nine."""

    RSI = "RSI"
    MACD = "MACD"
    BB = "BB"
    SMA = "SMA"
    EMA = "EMA"
    ATR = "ATR"
    VWAP = "VWAP"
    OBV = "OBV"
    ADX = "ADX"


Span = Annotated[str, WithJsonSchema({"type": "string", "enum": ["1d", "1w", "1m", "3m", "1y", "ytd"]})]
MAX_LENGTH = 250
"""The longest look-back of an indicator."""


class OhlcvArguments(SymbolArguments):
    """Input of get_ohlcv: the last bars, or with days the last ones of those."""

    timeframe: Timeframe = Field(description="How long a bar is")
    limit: int = Field(default=100, ge=1, le=500, description="How many of the last bars")
    start: Day | None = Field(default=None, description="First day, e.g. 2012-03-01")
    end: Day | None = Field(default=None, description="Last day")


class IndicatorArguments(SymbolArguments):
    """Input of get_indicators."""

    indicators: list[Indicator] = Field(min_length=1, max_length=20, description='Which, e.g. ["RSI", "MACD"]')
    timeframe: Literal["1h", "4h", "1d"] = Field(default="1d", description="How long a bar is")
    length: int | None = Field(default=None, ge=2, le=MAX_LENGTH, description="Bars, if not 14 or 20")
    end: Day | None = Field(default=None, description="As of that day; default: now")


class HoursArguments(Snake):
    """Input of get_market_hours."""

    day: Day | None = Field(default=None, description="Which day, e.g. 2012-12-24; default: today")


class PriceData(Sourced):
    """Output of get_price. `volume` is that of the session so far; `change` and `change_percent` (2.5 = 2.5 %) are null
    if there is nothing to compare with; `as_of` is the time of the price, `source` its provider.
    """

    symbol: NonEmpty
    price: Price
    change: float | None
    change_percent: float | None
    change_basis: str | None
    volume: Volume | None
    currency: NonEmpty = NOT_REQUIRED


class BarData(Snake):
    """One bar; `time` is its opening."""

    time: datetime
    open: Price
    high: Price
    low: Price
    close: Price
    volume: Volume | None


class OhlcvData(Sourced):
    """Output of get_ohlcv, oldest bar first, in shares of the last one. `closed`: the last bar is complete."""

    symbol: NonEmpty = NOT_REQUIRED
    timeframe: Timeframe = NOT_REQUIRED
    bars: list[BarData]
    closed: bool
    adjusted: str = "splits"
    currency: NonEmpty = NOT_REQUIRED


class IndicatorsData(Sourced):
    """Output of get_indicators: each at the last bar up to `end`, on split-adjusted prices. `warmup_bars` is the number
    of bars before it; `converged` is false while one of them still depends on where the history begins, by more than
    1e-9 of its value."""

    symbol: NonEmpty = NOT_REQUIRED
    timeframe: Timeframe
    warmup_bars: int
    converged: bool = NOT_REQUIRED
    price: Price = NOT_REQUIRED
    currency: NonEmpty = NOT_REQUIRED
    indicators: dict[Indicator, dict[str, Number | None]]


class FundamentalsData(Sourced):
    """Output of get_fundamentals. Money in `currency`; margins and yield are fractions; null where unknown.
    `report_source` names the report that the figures of `period` are from."""

    symbol: NonEmpty
    period: str | None
    pe: float | None
    eps: float | None
    revenue: float | None
    market_cap: float | None
    gross_margin: float | None
    net_margin: float | None
    dividend_yield: float | None
    beta: float | None
    currency: str | None
    report_source: str = NOT_REQUIRED


class EventsData(FundamentalsData):
    """One ticker of fundamentals_events: the figures, and the next dates; null if none is known. An `expected` date
    comes from a calendar and is not confirmed by the company."""

    symbol: NonEmpty = NOT_REQUIRED
    next_earnings_date: date | None
    next_earnings_status: str | None = NOT_REQUIRED
    next_dividend_date: date | None


class FundamentalsEventsData(OptionallySourced):
    """Output of fundamentals_events."""

    tickers: dict[str, EventsData]
    errors: list[TickerError]


class WindowData(Snake):
    """The bars of a snapshot summed up, and the last of them one by one."""

    first: date | None
    last: date | None
    bars: int
    open: Price
    high: Price
    low: Price
    close: Price
    volume: Volume | None
    tail: list[BarData] = NOT_REQUIRED


class SnapshotData(Sourced):
    """One ticker of market_snapshot. Returns, drawdowns and volatility are fractions; null if the history is too
    short."""

    ohlcv: WindowData
    price: Price
    currency: NonEmpty
    returns: dict[Span, float | None]
    max_drawdown: Fall
    current_drawdown: Fall
    volatility: Spread | None
    sma_20: float | None
    sma_50: float | None
    sma_200: float | None
    atr_14: Spread | None
    volume_zscore: float | None


class SnapshotsData(OptionallySourced):
    """Output of market_snapshot."""

    tickers: dict[str, SnapshotData]
    errors: list[TickerError]


class HolidayData(Snake):
    """A weekday without a session, or with one that ends early, at `closes`."""

    day: date
    closes: datetime | None


class HoursData(Sourced):
    """Output of get_market_hours. `opens` and `closes` are null on a day without a session; `next_day` is the first day
    after it that has one; `early_close`: the session is shorter than usual; `holidays`: the next ones after the day."""

    exchange: NonEmpty = NOT_REQUIRED
    day: date
    opens: datetime | None
    closes: datetime | None
    early_close: bool
    next_day: date
    holidays: list[HolidayData] = NOT_REQUIRED
