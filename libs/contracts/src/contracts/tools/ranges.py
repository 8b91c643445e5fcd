"""Tools about periods: their arguments and results."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field

from contracts.envelope import Snake
from contracts.market_rpc import TickerError
from contracts.tools.arguments import Day, SymbolArguments, SymbolText, TickersArguments
from contracts.tools.results import NOT_REQUIRED, NonEmpty, Sourced

Every = Literal["week", "month", "quarter", "year"]
Rules = Literal["sma_cross", "momentum", "rsi_reversion", "buy_and_hold"]
PeriodText = Annotated[
    str, Field(pattern=r"^(?:[1-9][0-9]{0,2}[dwmy]|[ywqm]td|since-(?:0[1-9]|1[0-2])(?:-[0-3][0-9])?)$")
]
"""A period up to now: 5y, 6m, 2w, 30d, ytd, qtd, mtd, wtd; since-09, since-09-15: since the latest September or 15
September."""


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


class FigureData(Snake):
    """One figure. Returns, drawdowns and volatility are fractions; `growth` is money. `label`: week, month, … of whose
    returns a correlation or beta is; null: of each session's."""

    ticker: NonEmpty
    figure: NonEmpty
    value: float | None
    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    asked: NonEmpty
    on: date | None = None
    other: NonEmpty | None = None
    currency: NonEmpty | None = None
    label: NonEmpty | None = None


class FallData(Snake):
    """A fall from a peak; `recovered` is null if it had not recovered by the end of the stretch."""

    ticker: NonEmpty
    peak: date
    trough: date
    recovered: date | None
    depth: float


class FiguresData(Sourced):
    """Output of get_performance and get_correlation."""

    figures: list[FigureData]
    drawdowns: list[FallData] = Field(default_factory=list[FallData])
    errors: list[TickerError]
    basis: NonEmpty = "split-adjusted closes, dividends not counted; a return is from the last close before the stretch"


class CrossingData(Snake):
    """One crossing. `above`: the fast average rose above the slow one."""

    on: date
    above: bool
    close: float


class CrossingsData(Sourced):
    """Output of get_crossings: the newest crossings."""

    symbol: NonEmpty
    fast: int = NOT_REQUIRED
    slow: int = NOT_REQUIRED
    asked: NonEmpty = NOT_REQUIRED
    crossings: list[CrossingData]
    currency: NonEmpty = NOT_REQUIRED


class BacktestTrade(Snake):
    """One fill of a backtest."""

    on: date
    side: NonEmpty
    price: float
    quantity: float = NOT_REQUIRED
    cost: float = NOT_REQUIRED


class BacktestData(Sourced):
    """Output of backtest_strategy: the rule's figures, those of buying and holding (`other`), and the assumptions."""

    symbol: NonEmpty
    rule: NonEmpty
    figures: list[FigureData]
    trades: list[BacktestTrade]
    trade_count: int = NOT_REQUIRED
    assumptions: list[NonEmpty]
