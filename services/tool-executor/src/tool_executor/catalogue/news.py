"""News and its sentiment. The market-adapter serves both tools."""

from functools import partial

from contracts.tools.arguments import input_schema
from contracts.tools.market import NewsArguments, WhenArguments
from tool_executor.catalogue.market import days_in_order
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    NUMBER,
    TEXT,
    data_schema,
    list_of,
    sourced,
    with_normal_symbol,
)
from tool_executor.texts import named

_SCORE = {"type": "number", "minimum": -1, "maximum": 1}


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


_SENTIMENT = data_schema({"label": TEXT, "score": _SCORE, "method": TEXT})
_ITEM = data_schema({"title": TEXT, "time": TEXT, "source": TEXT, "sentiment": _SENTIMENT})

TOOLS: list[DeclaredTool] = [
    news_tool(
        id="news.get_news",
        **named("get_news"),
        per_minute=10,
        time_limit=10.0,
        input_schema=input_schema(NewsArguments),
        output_schema=sourced({"items": list_of(_ITEM)}),
        examples=({"symbol": "AAPL", "limit": 3},),
    ),
    news_tool(
        id="news.get_sentiment",
        **named("get_sentiment"),
        required_plan="pro",
        per_minute=20,
        time_limit=10.0,
        input_schema=input_schema(WhenArguments),
        output_schema=sourced(
            {
                "label": TEXT,
                "score": _SCORE,
                "sources": list_of(data_schema({"source": TEXT, "items": NUMBER, "score": _SCORE})),
                "method": TEXT,
            }
        ),
        examples=({"symbol": "AAPL"},),
    ),
]
