"""News and its sentiment. The market-adapter serves both tools."""

from functools import partial

from contracts.tools.arguments import input_schema
from contracts.tools.news import NewsArguments, NewsData, SentimentData, WhenArguments
from contracts.tools.results import output_schema
from tool_executor.catalogue.market import days_in_order
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import named

news_tool = partial(
    DeclaredTool,
    category=Category.NEWS,
    cache=CacheScope.PUBLIC,
    texts_differ=True,
    validator=days_in_order,
    budget_per_ticker=3,
    handler=OverTheBus(),
    normaliser=with_normal_symbol,
)


TOOLS: list[DeclaredTool] = [
    news_tool(
        id="news.get_news",
        **named("get_news"),
        per_minute=10,
        time_limit=10.0,
        input_schema=input_schema(NewsArguments),
        output_schema=output_schema(NewsData),
        examples=({"symbol": "AAPL", "limit": 3},),
    ),
    news_tool(
        id="news.get_sentiment",
        **named("get_sentiment"),
        required_plan="pro",
        per_minute=20,
        time_limit=10.0,
        input_schema=input_schema(WhenArguments),
        output_schema=output_schema(SentimentData),
        examples=({"symbol": "AAPL"},),
    ),
]
