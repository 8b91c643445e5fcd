"""Tools about headlines: their arguments and results."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Snake
from contracts.tools.arguments import Day, SymbolArguments
from contracts.tools.ranges import PeriodText
from contracts.tools.results import NOT_REQUIRED, NonEmpty, Score, Sourced


class WhenArguments(SymbolArguments):
    """Input of get_sentiment: a symbol, and from when its headlines are; without days or a period, the newest."""

    start: Day | None = Field(default=None, description="First day")
    end: Day | None = Field(default=None, description="Last day")
    period: PeriodText | None = Field(default=None, description="Up to now: 1w, 30d, ytd")


class NewsArguments(WhenArguments):
    """Input of get_news."""

    limit: int = Field(default=5, ge=1, le=50, description="How many headlines")


class ItemSentiment(Snake):
    """The tone of one headline."""

    label: NonEmpty
    score: Score
    method: NonEmpty


class NewsItem(Snake):
    """One headline; `source` is its publisher."""

    title: NonEmpty
    time: datetime
    source: NonEmpty
    url: str | None = NOT_REQUIRED
    sentiment: ItemSentiment


class NewsData(Sourced):
    """Output of get_news, newest first."""

    symbol: NonEmpty = NOT_REQUIRED
    items: list[NewsItem]


class SentimentSource(Snake):
    """The part of one publisher."""

    source: NonEmpty
    items: int
    score: Score


class SentimentData(Sourced):
    """Output of get_sentiment: the mean over the newest headlines, from -1 to 1."""

    symbol: NonEmpty = NOT_REQUIRED
    label: NonEmpty
    score: Score
    items: int = NOT_REQUIRED
    sources: list[SentimentSource]
    method: NonEmpty
