"""The report of a market analysis, as `nexus ask`, /v2/analysis, the event and the chat return it.

It is tool data, so its names are snake_case. Figures are exactly those of the tools: fractions for returns, drawdowns,
volatility, margins and yield (0.05 = 5 %), money in the ticker's currency; null if a tool said that a figure is
unknown, absent if no tool was asked. The published JSON Schema is `schemas/analysis.report/v1.json`.
"""

from datetime import date, datetime
from typing import Literal

from pydantic import Field

from contracts.envelope import Snake
from contracts.languages import Language

NAME = "analysis.report"
VERSION = "v1"


class Window(Snake):
    """The period of bars that the figures cover, taken as one: at most a year of sessions."""

    first: date
    last: date
    bars: int = Field(ge=1)
    open: float
    high: float
    low: float
    close: float
    volume: float | None = None


class Derived(Snake):
    """A figure of a period, or of one ticker against another: return, max_drawdown, correlation, growth, …"""

    ticker: str
    figure: str
    value: float | None = None
    asked: str | None = Field(default=None, description="the stretch as asked for: 2008-01-01/2008-12-31, 5y")
    first: date | None = Field(default=None, alias="from")
    last: date | None = Field(default=None, alias="to")
    on: date | None = None
    other: str | None = None
    currency: str | None = None
    length: int | None = Field(default=None, description="bars of an indicator")
    label: str | None = Field(
        default=None,
        description="the tone of headlines (positive, …), or whose returns a correlation is of (week, …)",
    )


class Fall(Snake):
    """A fall from a peak; `recovered` is null while it has not recovered."""

    peak: date
    trough: date
    recovered: date | None = None
    depth: float = Field(le=0)


class Crossing(Snake):
    """A session at whose close the fast average had crossed the slow one."""

    on: date
    above: bool
    close: float


class Item(Snake):
    """A headline."""

    title: str
    time: datetime
    source: str


class Finding(Snake):
    """The figures of one ticker."""

    ticker: str = Field(min_length=1)
    price: float | None = None
    currency: str | None = None
    as_of: datetime | None = None
    returns: dict[str, float | None] | None = Field(default=None, description="by period: 1d, 1w, 1m, 3m, 1y, ytd")
    max_drawdown: float | None = Field(default=None, le=0, description="the worst fall from a peak in the window")
    current_drawdown: float | None = Field(default=None, le=0, description="from the window's highest close")
    volatility: float | None = Field(default=None, ge=0, description="of daily log returns, annualised with 252")
    sma_20: float | None = None
    sma_50: float | None = None
    sma_200: float | None = None
    atr_14: float | None = Field(default=None, ge=0)
    volume_zscore: float | None = None
    window: Window | None = None
    period: str | None = Field(default=None, description="of the reported figures")
    pe: float | None = None
    eps: float | None = None
    revenue: float | None = None
    market_cap: float | None = None
    gross_margin: float | None = None
    net_margin: float | None = None
    dividend_yield: float | None = None
    beta: float | None = None
    next_earnings_date: date | None = None
    next_earnings_status: str | None = None
    next_dividend_date: date | None = None
    derived: list[Derived] | None = Field(default=None, description="figures of the stretches that were asked for")
    drawdowns: list[Fall] | None = Field(default=None, description="the deepest falls of those stretches")
    crossings: list[Crossing] | None = None
    crossing_averages: list[int] | None = Field(default=None, description="sessions of the fast and the slow one")
    news: list[Item] | None = None


class Ranked(Snake):
    """One figure compared across tickers; `highest` and `lowest` only if every ticker has it and they differ."""

    figure: str
    values: dict[str, float | None]
    highest: str | None = None
    lowest: str | None = None


class Comparison(Snake):
    """A comparison of several tickers. `period`: the one that the query asks about."""

    period: Literal["1d", "1w", "1m", "3m", "1y", "ytd"]
    tickers: list[str] = Field(min_length=2)
    figures: list[Ranked]


class ToolUse(Snake):
    """`calls` is counted per ticker: one call for two tickers is two."""

    tool: str
    tickers: list[str]
    calls: int = Field(ge=1)


class Source(Snake):
    """The origin and the date of a ticker's figures. `report`: the published accounts behind them."""

    ticker: str
    source: str = Field(min_length=1)
    as_of: datetime
    tool: str | None = None
    report: str | None = None


class Failure(Snake):
    """A ticker for which a tool failed."""

    error: str
    ticker: str
    reason: str


class AnalysisReport(Snake):
    """The answer to one query."""

    query: str
    tickers: list[str]
    summary: str = Field(min_length=1)
    findings: list[Finding]
    comparison: Comparison | None = None
    tools_used: list[ToolUse]
    sources: list[Source]
    limitations: list[str]
    disclaimer: str = Field(min_length=1)
    generated_at: datetime
    errors: list[Failure] = Field(default_factory=list[Failure])
    language: Language = "en"
    not_answered: list[str] = Field(default_factory=list[str], description="what was asked and could not be answered")
    dropped_sentences: int = Field(default=0, ge=0, description="of the model's summary: no tool result backs them")


def report_schema() -> dict[str, object]:
    """The JSON Schema (2020-12) of a report, generated from the current model."""
    schema = AnalysisReport.model_json_schema()
    schema["title"] = f"{NAME}.{VERSION}"
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}
