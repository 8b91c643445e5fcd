"""What tools on stretches of time take and give."""

from datetime import date
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from contracts.envelope import Snake
from market_adapter.domain.ranges import Every
from market_adapter.tools.shapes import FailureData, Sourced, SymbolText, TickersArguments

PeriodText = Annotated[
    str, StringConstraints(pattern=r"^(?:[1-9][0-9]{0,2}[dwmy]|[ywqm]td|since-(?:0[1-9]|1[0-2])(?:-[0-3][0-9])?)$")
]
"""Up to now: 5y, 6m, 2w, 30d, ytd, qtd, mtd, wtd; since-09, since-09-15: since the latest September or 15 September."""
Rules = Literal["sma_cross", "momentum", "rsi_reversion", "buy_and_hold"]


class RangeArguments(TickersArguments):
    """Tickers and a stretch; without one, the year up to now."""

    start: date | None = None
    end: date | None = None
    period: PeriodText | None = None
    amount: float | None = Field(default=None, gt=0, le=1e12)
    every: Every | None = None


class RelationArguments(RangeArguments):
    """The same, and what betas are measured against."""

    benchmark: SymbolText | None = None


class CrossingArguments(Snake):
    """Averages of one symbol."""

    symbol: SymbolText
    fast: int = Field(default=50, ge=1, le=249)
    slow: int = Field(default=200, ge=2, le=250)
    start: date | None = None
    end: date | None = None
    period: PeriodText | None = None


class BacktestArguments(Snake):
    """A rule, tried on one symbol."""

    symbol: SymbolText
    rule: Rules = "sma_cross"
    fast: int = Field(default=50, ge=1, le=249)
    slow: int = Field(default=200, ge=3, le=250)
    start: date | None = None
    end: date | None = None
    period: PeriodText | None = None
    cash: float = Field(default=10_000.0, gt=0, le=1e12)
    cost_percent: float = Field(default=0.1, ge=0, le=5)


class FigureData(Snake):
    """One figure. Returns, drawdowns and volatility are fractions; `growth` is money."""

    ticker: str
    figure: str
    value: float | None
    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    asked: str
    on: date | None = None
    other: str | None = None
    currency: str | None = None


class FallData(Snake):
    """A fall from a peak; `recovered` null: not by the end of the stretch."""

    ticker: str
    peak: date
    trough: date
    recovered: date | None
    depth: float


class FiguresData(Sourced):
    """Output of get_performance and get_correlation."""

    figures: list[FigureData]
    drawdowns: list[FallData] = Field(default_factory=list[FallData])
    errors: list[FailureData]
    basis: str = "split-adjusted closes, dividends not counted; a return is from the last close before the stretch"


class CrossingData(Snake):
    """One crossing: `above`: the fast average went above the slow one."""

    on: date
    above: bool
    close: float


class CrossingsData(Sourced):
    """Output of get_crossings, the newest ones."""

    symbol: str
    fast: int
    slow: int
    asked: str
    crossings: list[CrossingData]
    currency: str


class BacktestTrade(Snake):
    """One fill of a backtest."""

    on: date
    side: str
    price: float
    quantity: float
    cost: float


class BacktestData(Sourced):
    """Output of backtest_strategy: the rule's figures, those of buying and holding (`other`), and what was assumed."""

    symbol: str
    rule: str
    figures: list[FigureData]
    trades: list[BacktestTrade]
    trade_count: int
    assumptions: list[str]
