"""get_news and get_sentiment."""

from collections.abc import Sequence
from datetime import date

from contracts.symbols import Symbol
from contracts.tools.news import (
    ItemSentiment,
    NewsArguments,
    NewsData,
    NewsItem,
    SentimentData,
    SentimentSource,
    WhenArguments,
)
from market_adapter.adapters.exchange_calendar import NEW_YORK
from market_adapter.domain.facts import Headline
from market_adapter.domain.performance import first_day
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.sentiment import METHOD, Sentiment, mean_sentiment, sentiment_of
from market_adapter.errors import NoDataError
from market_adapter.texts import TEXTS
from market_adapter.tools.tool import MarketTools, tool

MAX_HEADLINES = 1_000
SENTIMENT_HEADLINES = 20
"""The newest headlines from which a sentiment is computed."""


class NewsTools(MarketTools):
    """The tools for headlines and their sentiment."""

    @tool
    async def get_news(self, arguments: NewsArguments) -> NewsData:
        symbol = requested_symbol(arguments.symbol)
        headlines = await self._published(symbol, arguments, arguments.limit)
        return NewsData(
            symbol=symbol.name,
            items=[_item(headline) for headline in headlines],
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    @tool
    async def get_sentiment(self, arguments: WhenArguments) -> SentimentData:
        """The mean sentiment of the newest headlines, in all and by publisher."""
        symbol = requested_symbol(arguments.symbol)
        by_publisher: dict[str, list[Sentiment]] = {}
        for headline in await self._published(symbol, arguments, SENTIMENT_HEADLINES):
            by_publisher.setdefault(headline.publisher, []).append(sentiment_of(headline.title))
        total = mean_sentiment(sentiment for sentiments in by_publisher.values() for sentiment in sentiments)
        return SentimentData(
            symbol=symbol.name,
            label=total.label,
            score=total.score,
            items=sum(len(sentiments) for sentiments in by_publisher.values()),
            sources=[
                SentimentSource(source=name, items=len(sentiments), score=mean_sentiment(sentiments).score)
                for name, sentiments in sorted(by_publisher.items())
            ],
            method=METHOD,
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    async def _published(self, symbol: Symbol, arguments: WhenArguments, limit: int) -> Sequence[Headline]:
        """The newest headlines; if days are requested, those of these days by New York's clock."""
        if arguments.start is None and arguments.end is None and arguments.period is None:
            return await self._provider.headlines(symbol, limit)
        first, last = arguments.start or date.min, arguments.end or date.max
        if arguments.period is not None and arguments.start is None:
            first = first_day(arguments.period, arguments.end or self._provider.now().astimezone(NEW_YORK).date())
        newest = await self._provider.headlines(symbol, MAX_HEADLINES)
        published = [headline for headline in newest if first <= headline.published.astimezone(NEW_YORK).date() <= last]
        if not published:
            raise NoDataError(symbol.name, TEXTS["market.no_headlines"].format(symbol=symbol))
        return published[:limit]


def _item(headline: Headline) -> NewsItem:
    sentiment = sentiment_of(headline.title)
    return NewsItem(
        title=headline.title,
        time=headline.published,
        source=headline.publisher,
        url=headline.url,
        sentiment=ItemSentiment(label=sentiment.label, score=sentiment.score, method=METHOD),
    )
