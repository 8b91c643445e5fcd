"""Predictions and the features behind them. The market-adapter serves both tools."""

from functools import partial

from contracts.tools.arguments import SymbolArguments, input_schema
from contracts.tools.predictions import FeatureArguments, FeaturesData, SignalData
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import named

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
        output_schema=output_schema(SignalData),
        examples=({"symbol": "MSFT"},),
    ),
    ml_tool(
        id="ml.get_features",
        **named("get_ml_features"),
        required_plan="premium",
        per_minute=20,
        time_limit=20.0,
        input_schema=input_schema(FeatureArguments),
        output_schema=output_schema(FeaturesData),
        examples=(
            {"symbol": "IBM"},
            {"symbol": "IBM", "prediction_id": "IBM-20130301-h5-v1"},
        ),
    ),
]
"""A prediction that is not stored yet is computed during the call: about 1 s."""
