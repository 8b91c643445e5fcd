"""The tool calls that a question needs, and what to say about their results."""

from dataclasses import dataclass, field

from contracts.json_values import JsonObject

PERFORMANCE, CORRELATION, CROSSINGS, BACKTEST = (
    "get_performance", "get_correlation", "get_crossings", "backtest_strategy",
)  # fmt: skip
NEWS, SENTIMENT, INDICATORS = "get_news", "get_sentiment", "get_indicators"
SNAPSHOT, COMPANY = "market_snapshot", "fundamentals_events"


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """One call that the question asks for."""

    tool: str
    tickers: tuple[str, ...]
    arguments: JsonObject


@dataclass(slots=True)
class Question:
    """What a question asks for. `figures`: by the names of findings, in its order; none: how the tickers stand.
    `now_only`: figures asked for of a past time that the tools know of now alone; `unread`: words that no rule read."""

    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    figures: list[str] = field(default_factory=list[str])
    periods: list[str] = field(default_factory=list[str])
    averages: list[int] = field(default_factory=list[int])
    now_only: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    most: dict[str, int] = field(default_factory=dict[str, int])
    """How many of a best or worst part are asked for, by its figure, where it is more than one."""
    lowest_first: bool = False
    by_size: bool = False
    """Whether returns are ranked by their size, up or down alike: what moved most."""
    by_year: bool = False
    """Whether one of several years is asked for."""
    place: int | None = None
    """Of which one in the order by the first figure the others are asked for: 1 the second, -1 the last."""
    ahead: str | None = None
    """When the results that are asked about are awaited: week, month, a month's number, or so many from now (2w)."""
    upward: bool | None = None
    """Which crossings are asked for: those to above alone, or to below; None: both."""
    currency: str | None = None
