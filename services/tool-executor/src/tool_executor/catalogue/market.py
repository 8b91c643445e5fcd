"""Market tools. The market-adapter serves them; here is what they are called, take and give."""

from collections.abc import Mapping
from typing import Any

from contracts.symbols import normal_symbol
from tool_executor.domain.declaration import CacheScope, Category, OverTheBus, Text, Tool
from tool_executor.domain.plans import Arguments

SYMBOL: Mapping[str, Any] = {
    "type": "string",
    "minLength": 1,
    "maxLength": 40,
    "pattern": r"^\s*[$^]?[A-Za-z0-9][A-Za-z0-9 .:/_-]*$",
    "description": "Ticker, e.g. AAPL, BRK.B, BTC/USD, ^GSPC",
}
PROVENANCE: Mapping[str, Any] = {
    "source": {"type": "string", "minLength": 1},
    "as_of": {"type": "string", "minLength": 10},
}
"""What every answer about a market says: where the figures are from, and of when they are."""


def with_normal_symbol(arguments: Arguments) -> Arguments:
    """The arguments with their symbol in the one spelling."""
    return {**arguments, "symbol": normal_symbol(arguments["symbol"])}


def tools() -> list[Tool]:
    """The category's tools."""
    return [
        Tool(
            id="market.get_price",
            name="get_price",
            description=Text(
                es="Último precio de una acción, índice o criptomoneda, su variación y volumen, con fuente y fecha.",
                en="Latest price of a stock, index or crypto pair, its change and volume, with source and date.",
            ),
            label=Text(es="Consultando el precio…", en="Looking up the price…"),
            category=Category.MARKET,
            per_minute=60,
            time_limit=5.0,
            cache=CacheScope.PUBLIC,
            input_schema={
                "type": "object",
                "properties": {"symbol": SYMBOL},
                "required": ["symbol"],
                "additionalProperties": False,
            },
            output_schema={
                "type": "object",
                "properties": {
                    "symbol": {"type": "string"},
                    "price": {"type": "number", "exclusiveMinimum": 0},
                    "change": {"type": ["number", "null"]},
                    "change_percent": {"type": ["number", "null"]},
                    "change_basis": {"type": ["string", "null"]},
                    "volume": {"type": ["number", "null"], "minimum": 0},
                    **PROVENANCE,
                },
                "required": [
                    "symbol",
                    "price",
                    "change",
                    "change_percent",
                    "change_basis",
                    "volume",
                    "source",
                    "as_of",
                ],
            },
            handler=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({"symbol": "AAPL"}, {"symbol": "BTC/USD"}),
        )
    ]
