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
    """What a question asks for. `figures`: by their names in findings, in the question's order; empty: how the tickers
    stand. `now_only`: figures asked for of the past that the tools only know the current value of; `unread`: words
    that no rule read."""

    calls: list[RequestedCall] = field(default_factory=list[RequestedCall])
    figures: list[str] = field(default_factory=list[str])
    periods: list[str] = field(default_factory=list[str])
    averages: list[int] = field(default_factory=list[int])
    now_only: list[str] = field(default_factory=list[str])
    unread: list[str] = field(default_factory=list[str])
    most: dict[str, int] = field(default_factory=dict[str, int])
    """How many best or worst parts are asked for, by figure, if more than one."""
    lowest_first: bool = False
    by_size: bool = False
    """Whether returns are ranked by size, up or down alike: what moved most."""
    by_year: bool = False
    """Whether the question asks for one of several years."""
    ranks_parts: bool = False
    """Whether the months, … of the period are ranked by their returns."""
    place: int | None = None
    """The place, in the ranking by the first figure, of the ticker whose other figures are asked for: 1 is the second,
    -1 the last."""
    ahead: str | None = None
    """The coming period of the results asked about: week, month, a month's number, or a count from now (2w)."""
    upward: bool | None = None
    """Which crossings are asked for: only those to above (True) or to below (False); None: both."""
    asks_past_results: bool = False
    """Whether the question asks when results were published."""
    currency: str | None = None
    """The currency of an invested amount, if it is named."""
    other_currency: str | None = None
    """A currency other than the dollar in which the figures are asked for."""
