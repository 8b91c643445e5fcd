"""Market tools: their names, arguments and results. The market-adapter serves them."""

from collections.abc import Sequence
from functools import partial

from contracts.tools.arguments import SymbolArguments, TickersArguments, input_schema
from contracts.tools.market import (
    FundamentalsData,
    FundamentalsEventsData,
    HoursArguments,
    HoursData,
    Indicator,
    IndicatorArguments,
    IndicatorsData,
    OhlcvArguments,
    OhlcvData,
    PriceData,
    SnapshotsData,
)
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import ArgumentProblem, CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import with_normal_symbol, with_normal_tickers
from tool_executor.texts import TEXTS, named


def days_in_order(arguments: Arguments) -> Sequence[ArgumentProblem]:
    """Returns a problem if the first day is after the last one; ISO dates compare as texts."""
    start, end = arguments.get("start"), arguments.get("end")
    return [ArgumentProblem("start", TEXTS["arguments.start_after_end"])] if start and end and start > end else []


market_tool = partial(
    DeclaredTool,
    category=Category.MARKET,
    cache=CacheScope.PUBLIC,
    texts_differ=True,
    handler=OverTheBus(),
    validator=days_in_order,
)
"""Declares a tool of this category: the market-adapter serves it, with one result for all users of a language."""


def with_indicators_once(arguments: Arguments) -> Arguments:
    """Normalizes the symbol, and lists each indicator once, in the catalogue's order."""
    indicators = [name for name in Indicator if name in arguments["indicators"]]
    return {**with_normal_symbol(arguments), "indicators": indicators}


TOOLS: list[DeclaredTool] = [
    market_tool(
        id="market.get_price",
        **named("get_price"),
        per_minute=60,
        time_limit=5.0,
        input_schema=input_schema(SymbolArguments),
        output_schema=output_schema(PriceData),
        normaliser=with_normal_symbol,
        examples=({"symbol": "AAPL"}, {"symbol": "BTC/USD"}),
    ),
    market_tool(
        id="market.get_ohlcv",
        **named("get_ohlcv"),
        per_minute=30,
        time_limit=8.0,
        input_schema=input_schema(OhlcvArguments),
        output_schema=output_schema(OhlcvData),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM", "timeframe": "1d", "limit": 20},),
    ),
    market_tool(
        id="market.get_indicators",
        **named("get_indicators"),
        budget_per_ticker=3,
        per_minute=30,
        time_limit=8.0,
        input_schema=input_schema(IndicatorArguments),
        output_schema=output_schema(IndicatorsData),
        normaliser=with_indicators_once,
        examples=({"symbol": "MSFT", "indicators": ["RSI", "MACD"]},),
    ),
    market_tool(
        id="market.get_fundamentals",
        **named("get_fundamentals"),
        per_minute=20,
        time_limit=8.0,
        input_schema=input_schema(SymbolArguments),
        output_schema=output_schema(FundamentalsData),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM"},),
    ),
    market_tool(
        id="market.snapshot",
        **named("market_snapshot"),
        per_minute=30,
        time_limit=15.0,
        input_schema=input_schema(TickersArguments),
        output_schema=output_schema(SnapshotsData),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM", "MSFT"]},),
    ),
    market_tool(
        id="market.fundamentals_events",
        **named("fundamentals_events"),
        per_minute=20,
        time_limit=15.0,
        input_schema=input_schema(TickersArguments),
        output_schema=output_schema(FundamentalsEventsData),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM", "MSFT"]},),
    ),
    market_tool(
        id="market.get_market_hours",
        **named("get_market_hours"),
        per_minute=60,
        time_limit=5.0,
        input_schema=input_schema(HoursArguments),
        output_schema=output_schema(HoursData),
        examples=({"day": "2012-12-24"}, {}),
    ),
]
"""Tools about symbols and bars; those for watchlists are in watchlist.py."""
