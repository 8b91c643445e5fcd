"""Predictions and the features behind them. The market-adapter serves both tools."""

from functools import partial

from contracts.tools.arguments import SymbolArguments, input_schema
from contracts.tools.market import FeatureArguments
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    MAYBE,
    NUMBER,
    SHARE,
    TEXT,
    data_schema,
    list_of,
    one_of,
    sourced,
    with_normal_symbol,
)
from tool_executor.texts import named

PREDICTIONS = ("bullish", "bearish", "neutral", "no_edge")


ml_tool = partial(
    DeclaredTool,
    category=Category.ML,
    cache=CacheScope.PUBLIC,
    texts_differ=True,
    handler=OverTheBus(),
    normaliser=with_normal_symbol,
)

TOOLS: list[DeclaredTool] = [
    ml_tool(
        id="ml.get_prediction",
        **named("get_ml_signals"),
        required_plan="pro",
        per_minute=30,
        time_limit=20.0,
        input_schema=input_schema(SymbolArguments),
        output_schema=sourced(
            {
                "prediction_id": TEXT,
                "prediction": one_of(PREDICTIONS, "The direction"),
                "confidence": SHARE,
                "horizon": TEXT,
                "accuracy": SHARE,
                "skill_vs_base": NUMBER,
            }
        ),
        examples=({"symbol": "MSFT"},),
    ),
    ml_tool(
        id="ml.get_features",
        **named("get_ml_features"),
        required_plan="premium",
        per_minute=20,
        time_limit=20.0,
        input_schema=input_schema(FeatureArguments),
        output_schema=sourced({"features": list_of(data_schema({"name": TEXT, "importance": SHARE, "value": MAYBE}))}),
        examples=(
            {"symbol": "IBM"},
            {"symbol": "IBM", "prediction_id": "IBM-20130301-h5-v1"},
        ),
    ),
]
"""A prediction that is not stored yet is computed during the call: about 1 s."""
