"""The results of tools about periods."""

from datetime import date

from pydantic import Field

from contracts.envelope import Snake
from contracts.market_rpc import TickerError
from market_adapter.tools.shapes import Sourced


class FigureData(Snake):
    """One figure. Returns, drawdowns and volatility are fractions; `growth` is money. `label`: week, month, … of whose
    returns a correlation or beta is; null: of each session's."""

    ticker: str
    figure: str
    value: float | None
    first: date = Field(serialization_alias="from")
    last: date = Field(serialization_alias="to")
    asked: str
    on: date | None = None
    other: str | None = None
    currency: str | None = None
    label: str | None = None


class FallData(Snake):
    """A fall from a peak; `recovered` is null if it had not recovered by the end of the stretch."""

    ticker: str
    peak: date
    trough: date
    recovered: date | None
    depth: float


class FiguresData(Sourced):
    """Output of get_performance and get_correlation."""

    figures: list[FigureData]
    drawdowns: list[FallData] = Field(default_factory=list[FallData])
    errors: list[TickerError]
    basis: str = "split-adjusted closes, dividends not counted; a return is from the last close before the stretch"


class CrossingData(Snake):
    """One crossing. `above`: the fast average rose above the slow one."""

    on: date
    above: bool
    close: float


class CrossingsData(Sourced):
    """Output of get_crossings: the newest crossings."""

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
    """Output of backtest_strategy: the rule's figures, those of buying and holding (`other`), and the assumptions."""

    symbol: str
    rule: str
    figures: list[FigureData]
    trades: list[BacktestTrade]
    trade_count: int
    assumptions: list[str]
