"""The caller's paper portfolio. The market-adapter serves both tools. When an order is filled or ends, their
cached results are dropped."""

from functools import partial

from contracts.tools.account import HistoryArguments, HistoryData, PortfolioData
from contracts.tools.arguments import NoArguments, input_schema
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import named

portfolio_tool = partial(
    DeclaredTool,
    category=Category.PORTFOLIO,
    required_plan="pro",
    cache=CacheScope.USER,
    texts_differ=True,
    handler=OverTheBus(),
)


TOOLS: list[DeclaredTool] = [
    portfolio_tool(
        id="portfolio.get_positions",
        **named("get_portfolio"),
        per_minute=30,
        time_limit=5.0,
        input_schema=input_schema(NoArguments),
        output_schema=output_schema(PortfolioData),
        examples=({},),
    ),
    portfolio_tool(
        id="portfolio.get_history",
        **named("get_trade_history"),
        per_minute=20,
        time_limit=5.0,
        input_schema=input_schema(HistoryArguments),
        output_schema=output_schema(HistoryData),
        normaliser=with_normal_symbol,
        examples=({"limit": 5}, {"symbol": "IBM"}),
    ),
]
