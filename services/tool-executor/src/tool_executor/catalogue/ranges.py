"""Tools about periods: performance, correlation, crossings of averages, and testing a rule on the past."""

from collections.abc import Sequence
from functools import partial

from contracts.tools.arguments import input_schema
from contracts.tools.ranges import (
    BacktestArguments,
    BacktestData,
    CrossingArguments,
    CrossingsData,
    FiguresData,
    RangeArguments,
    RelationArguments,
)
from contracts.tools.results import output_schema
from tool_executor.catalogue.market import days_in_order, market_tool
from tool_executor.domain.declaration import ArgumentProblem, DeclaredTool
from tool_executor.domain.plans import Arguments
from tool_executor.domain.shapes import with_normal_symbol, with_normal_tickers
from tool_executor.texts import TEXTS, named


def comparison_problems(arguments: Arguments) -> Sequence[ArgumentProblem]:
    """Returns the problems of a comparison: a single ticker has nothing to be compared with."""
    names = {str(ticker).strip().upper() for ticker in (*arguments["tickers"], arguments.get("benchmark") or "")} - {""}
    problems = [ArgumentProblem("tickers", TEXTS["arguments.one_ticker"])] if len(names) < 2 else []
    return [*problems, *days_in_order(arguments)]


def length_problems(arguments: Arguments) -> Sequence[ArgumentProblem]:
    """Returns the problems of two averages: those of the same length never cross."""
    is_crossing = arguments.get("rule", "sma_cross") == "sma_cross"
    is_same = is_crossing and "fast" in arguments and arguments["fast"] == arguments.get("slow")
    return [*([ArgumentProblem("slow", TEXTS["arguments.one_length"])] if is_same else []), *days_in_order(arguments)]


range_tool = partial(market_tool, per_minute=30, time_limit=15.0, budget_per_ticker=3)

TOOLS: list[DeclaredTool] = [
    range_tool(
        id="market.get_performance",
        **named("get_performance"),
        input_schema=input_schema(RangeArguments),
        output_schema=output_schema(FiguresData),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM"], "start": "2008-01-01", "end": "2008-12-31", "amount": 10000},),
    ),
    range_tool(
        id="market.get_correlation",
        **named("get_correlation"),
        input_schema=input_schema(RelationArguments),
        validator=comparison_problems,
        output_schema=output_schema(FiguresData),
        normaliser=with_normal_tickers,
        examples=({"tickers": ["IBM", "MSFT"], "start": "2012-01-01", "end": "2012-12-31"},),
    ),
    range_tool(
        id="market.get_crossings",
        **named("get_crossings"),
        time_limit=8.0,
        input_schema=input_schema(CrossingArguments),
        validator=length_problems,
        output_schema=output_schema(CrossingsData),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM", "fast": 50, "slow": 200, "start": "2010-01-01"},),
    ),
    range_tool(
        id="market.backtest_strategy",
        **named("backtest_strategy"),
        per_minute=10,
        input_schema=input_schema(BacktestArguments),
        validator=length_problems,
        output_schema=output_schema(BacktestData),
        normaliser=with_normal_symbol,
        examples=({"symbol": "IBM", "rule": "sma_cross", "start": "2008-01-01", "end": "2012-12-31"},),
    ),
]
