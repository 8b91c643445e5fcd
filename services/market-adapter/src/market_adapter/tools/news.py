"""get_news and get_sentiment."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Snake
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.facts import Headline
from market_adapter.domain.sentiment import METHOD, Sentiment, sentiment_of, together
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import Sourced, SymbolArguments

HEADLINES = 20
"""How many of the newest headlines a sentiment is made of."""


class NewsArguments(SymbolArguments):
    """Input of get_news."""

    limit: int = Field(default=5, ge=1, le=50)


class ItemSentiment(Snake):
    """What one headline sounds like."""

    label: str
    score: float
    method: str = METHOD


class NewsItem(Snake):
    """One headline; `source` is its publisher."""

    title: str
    time: datetime
    source: str
    url: str | None
    sentiment: ItemSentiment


class NewsData(Sourced):
    """Output of get_news, newest first."""

    symbol: str
    items: list[NewsItem]


class SentimentSource(Snake):
    """One publisher's share."""

    source: str
    items: int
    score: float


class SentimentData(Sourced):
    """Output of get_sentiment: the mean over the newest headlines, from -1 to 1."""

    symbol: str
    label: str
    score: float
    items: int
    sources: list[SentimentSource]
    method: str = METHOD


class NewsTools:
    """Headlines and what they sound like."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    async def get_news(self, asked: NewsArguments) -> NewsData:
        """The newest headlines."""
        symbol = asked_symbol(asked.symbol)
        found = await self._provider.headlines(symbol, asked.limit)
        return NewsData(
            symbol=symbol.name,
            items=[_item(one) for one in found],
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    async def get_sentiment(self, asked: SymbolArguments) -> SentimentData:
        """The mean sentiment of the newest headlines, and of each publisher's."""
        symbol = asked_symbol(asked.symbol)
        by_publisher: dict[str, list[Sentiment]] = {}
        for one in await self._provider.headlines(symbol, HEADLINES):
            by_publisher.setdefault(one.publisher, []).append(sentiment_of(one.title))
        whole = together(part for parts in by_publisher.values() for part in parts)
        return SentimentData(
            symbol=symbol.name,
            label=whole.label,
            score=whole.score,
            items=sum(len(parts) for parts in by_publisher.values()),
            sources=[
                SentimentSource(source=name, items=len(parts), score=together(parts).score)
                for name, parts in sorted(by_publisher.items())
            ],
            source=self._provider.source,
            as_of=self._provider.now(),
        )


def _item(headline: Headline) -> NewsItem:
    found = sentiment_of(headline.title)
    return NewsItem(
        title=headline.title,
        time=headline.published,
        source=headline.publisher,
        url=headline.url,
        sentiment=ItemSentiment(label=found.label, score=found.score),
    )
