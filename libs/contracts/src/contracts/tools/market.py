"""Arguments of the tools about the market: symbols, bars, periods, news, predictions."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field

from contracts.envelope import Snake
from contracts.tools.arguments import Day, SymbolArguments, SymbolText, TickersArguments


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


Every = Literal["week", "month", "quarter", "year"]
Rules = Literal["sma_cross", "momentum", "rsi_reversion", "buy_and_hold"]
PeriodText = Annotated[
    str, Field(pattern=r"^(?:[1-9][0-9]{0,2}[dwmy]|[ywqm]td|since-(?:0[1-9]|1[0-2])(?:-[0-3][0-9])?)$")
]
"""A period up to now: 5y, 6m, 2w, 30d, ytd, qtd, mtd, wtd; since-09, since-09-15: since the latest September or 15
September."""
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


class StretchArguments(Snake):
    """The first and the last day of a period; without either, the year up to now."""

    start: Day | None = Field(default=None, description="First day, e.g. 2012-03-01; default: a year ago")
    end: Day | None = Field(default=None, description="Last day; default: now")
    period: PeriodText | None = Field(default=None, description="Up to now: 5y, 30d, ytd, mtd, since-09")


class RangeArguments(StretchArguments, TickersArguments):
    """Input of get_performance."""

    amount: float | None = Field(default=None, gt=0, le=1e12, description="Money put in at the start")
    every: Every | None = Field(default=None, description="Its returns too, the best and the worst of them")
    parts: Literal["returns", "volatilities"] = Field(default="returns", description="What of each part")
    top: int = Field(default=1, ge=1, le=10, description="How many of the best and of the worst")


class RelationArguments(StretchArguments, TickersArguments):
    """Input of get_correlation: tickers, and what betas are measured against."""

    benchmark: SymbolText | None = None
    every: Every | None = Field(default=None, description="Returns of each week, … instead of each session")


class CrossingArguments(StretchArguments, SymbolArguments):
    """Input of get_crossings: averages of one symbol."""

    fast: int = Field(default=50, ge=1, le=249, description="Sessions; 1: the close itself")
    slow: int = Field(default=200, ge=2, le=250, description="Sessions")


class BacktestArguments(StretchArguments, SymbolArguments):
    """Input of backtest_strategy: a rule, tried on one symbol."""

    rule: Rules = Field(default="sma_cross", description="What decides")
    fast: int = Field(default=50, ge=1, le=249, description="Sessions of the short look; 1: the close")
    slow: int = Field(default=200, ge=3, le=250, description="Sessions of the long look")
    cash: float = Field(default=10_000.0, gt=0, le=1e12, description="Money at the start")
    cost_percent: float = Field(default=0.1, ge=0, le=5, description="Of each trade")


class WhenArguments(SymbolArguments):
    """Input of get_sentiment: a symbol, and from when its headlines are; without days or a period, the newest."""

    start: Day | None = Field(default=None, description="First day")
    end: Day | None = Field(default=None, description="Last day")
    period: PeriodText | None = Field(default=None, description="Up to now: 1w, 30d, ytd")


class HoursArguments(Snake):
    """Input of get_market_hours."""

    day: Day | None = Field(default=None, description="Which day, e.g. 2012-12-24; default: today")


class NewsArguments(WhenArguments):
    """Input of get_news."""

    limit: int = Field(default=5, ge=1, le=50, description="How many headlines")


class FeatureArguments(SymbolArguments):
    """Input of get_ml_features: without `prediction_id`, the newest prediction."""

    prediction_id: str | None = Field(
        default=None,
        min_length=1,
        max_length=64,
        description="A prediction_id of get_ml_signals; without it, the newest prediction of the symbol",
    )
