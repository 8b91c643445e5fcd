"""get_news and get_sentiment."""

from collections.abc import Sequence
from datetime import date, datetime
from zoneinfo import ZoneInfo

from contracts.envelope import Snake
from contracts.symbols import Symbol
from contracts.tools.market import NewsArguments, WhenArguments
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.facts import Headline
from market_adapter.domain.performance import first_day
from market_adapter.domain.sentiment import METHOD, Sentiment, mean_sentiment, sentiment_of
from market_adapter.errors import NoDataError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool

MOST_LOOKED_AT = 1_000
NEW_YORK = ZoneInfo("America/New_York")
"""The time zone of the days for which headlines are requested."""
HEADLINES = 20
"""The number of newest headlines from which a sentiment is made."""


class ItemSentiment(Snake):
    """The tone of one headline."""

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
    """The share of one publisher."""

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

    @tool
    async def get_news(self, asked: NewsArguments) -> NewsData:
        symbol = asked_symbol(asked.symbol)
        found = await self._published(symbol, asked, asked.limit)
        return NewsData(
            symbol=symbol.name,
            items=[_item(one) for one in found],
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    @tool
    async def get_sentiment(self, asked: WhenArguments) -> SentimentData:
        """The mean sentiment of the newest headlines, and of each publisher's."""
        symbol = asked_symbol(asked.symbol)
        by_publisher: dict[str, list[Sentiment]] = {}
        for one in await self._published(symbol, asked, HEADLINES):
            by_publisher.setdefault(one.publisher, []).append(sentiment_of(one.title))
        whole = mean_sentiment(part for parts in by_publisher.values() for part in parts)
        return SentimentData(
            symbol=symbol.name,
            label=whole.label,
            score=whole.score,
            items=sum(len(parts) for parts in by_publisher.values()),
            sources=[
                SentimentSource(source=name, items=len(parts), score=mean_sentiment(parts).score)
                for name, parts in sorted(by_publisher.items())
            ],
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    async def _published(self, symbol: Symbol, asked: WhenArguments, most: int) -> Sequence[Headline]:
        """The newest headlines, of those days where days are asked for."""
        if asked.start is None and asked.end is None and asked.period is None:
            return await self._provider.headlines(symbol, most)
        first, last = asked.start or date.min, asked.end or date.max
        if asked.period is not None and asked.start is None:
            first = first_day(asked.period, asked.end or self._provider.now().astimezone(NEW_YORK).date())
        known = await self._provider.headlines(symbol, MOST_LOOKED_AT)
        found = [one for one in known if first <= one.published.astimezone(NEW_YORK).date() <= last]
        if not found:
            raise NoDataError(symbol.name, TEXTS["market.no_headlines"].format(symbol=symbol))
        return found[:most]


def _item(headline: Headline) -> NewsItem:
    found = sentiment_of(headline.title)
    return NewsItem(
        title=headline.title,
        time=headline.published,
        source=headline.publisher,
        url=headline.url,
        sentiment=ItemSentiment(label=found.label, score=found.score),
    )
