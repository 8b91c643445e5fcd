"""The caller's paper portfolio. The market-adapter serves both tools. When an order is filled or ends, their
cached results are dropped."""

from functools import partial

from contracts.tools.account import HistoryArguments, Side
from contracts.tools.arguments import NoArguments, input_schema
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    MAYBE,
    NUMBER,
    TEXT,
    data_schema,
    list_of,
    one_of,
    sourced,
    with_normal_symbol,
)
from tool_executor.texts import named

portfolio_tool = partial(
    DeclaredTool,
    category=Category.PORTFOLIO,
    required_plan="pro",
    cache=CacheScope.USER,
    texts_differ=True,
    handler=OverTheBus(),
)


_POSITION = data_schema(
    {
        "symbol": TEXT,
        "quantity": NUMBER,
        "average_price": NUMBER,
        **dict.fromkeys(("price", "value", "unrealized"), MAYBE),
    }
)
_TRADE = data_schema(
    {
        "order_id": TEXT,
        "symbol": TEXT,
        "side": one_of(tuple(Side), "What was done"),
        "quantity": NUMBER,
        "price": NUMBER,
        "time": TEXT,
        "realized": MAYBE,
    }
)

TOOLS: list[DeclaredTool] = [
    portfolio_tool(
        id="portfolio.get_positions",
        **named("get_portfolio"),
        per_minute=30,
        time_limit=5.0,
        input_schema=input_schema(NoArguments),
        output_schema=sourced(
            {"positions": list_of(_POSITION), "cash": NUMBER, "equity": NUMBER, "paper": {"const": True}}
        ),
        examples=({},),
    ),
    portfolio_tool(
        id="portfolio.get_history",
        **named("get_trade_history"),
        per_minute=20,
        time_limit=5.0,
        input_schema=input_schema(HistoryArguments),
        output_schema=sourced({"trades": list_of(_TRADE)}),
        normaliser=with_normal_symbol,
        examples=({"limit": 5}, {"symbol": "IBM"}),
    ),
]
