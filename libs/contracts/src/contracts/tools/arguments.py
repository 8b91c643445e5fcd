"""Arguments that several tools share, and the JSON Schema that callers see.

The serving service checks the model's types and bounds. Patterns are only in the schema, and the executor checks them;
the market-adapter explains what is wrong with an unusual symbol.
"""

from datetime import date
from decimal import Decimal
from typing import Annotated

from pydantic import Field, WithJsonSchema

from contracts.envelope import Snake
from contracts.events.analysis import MAX_TICKERS
from contracts.ids import ID_PATTERN
from contracts.json_values import JsonObject, is_object, list_of, object_of, objects_of

SYMBOL_PATTERN = r"^\s*[$^]?[A-Za-z0-9][A-Za-z0-9 .:/_-]*$"
NOT_BLANK = r"\S"
DAY_PATTERN = r"^\d{4}-\d{2}-\d{2}$"
_NOT_SHOWN = {"title", "anyOf", "$ref"}

SymbolText = Annotated[
    str,
    Field(
        min_length=1,
        max_length=40,
        description="Ticker, e.g. AAPL, BRK.B, BTC/USD, ^GSPC",
        json_schema_extra={"pattern": SYMBOL_PATTERN},
    ),
]
Day = Annotated[date, Field(ge=date(1800, 1, 1)), WithJsonSchema({"type": "string", "pattern": DAY_PATTERN})]
Amount = Annotated[
    Decimal,
    Field(gt=0, max_digits=18, decimal_places=8, allow_inf_nan=False),
    WithJsonSchema({"type": "number", "exclusiveMinimum": 0, "maximum": 1e15}),
]
IdText = Annotated[str, WithJsonSchema({"type": "string", "pattern": ID_PATTERN}), Field(min_length=1, max_length=64)]
Words = Annotated[str, Field(min_length=1, max_length=500, json_schema_extra={"pattern": NOT_BLANK})]


class NoArguments(Snake):
    """The tool takes no arguments."""


class SymbolArguments(Snake):
    """One symbol."""

    symbol: SymbolText


class TickersArguments(Snake):
    """Several symbols."""

    tickers: list[SymbolText] = Field(min_length=1, max_length=MAX_TICKERS, description='Tickers, e.g. ["IBM", "MSFT"]')


def input_schema(arguments: type[Snake]) -> JsonObject:
    """Returns a tool's input as JSON Schema 2020-12: these arguments and no others."""
    shape = arguments.model_json_schema()
    definitions, properties = object_of(shape.get("$defs")), object_of(shape.get("properties"))
    return {
        "type": "object",
        "properties": {name: _shown(object_of(rule), definitions) for name, rule in properties.items()},
        "required": list_of(shape.get("required")),
        "additionalProperties": False,
    }


def _shown(rule: JsonObject, definitions: JsonObject) -> JsonObject:
    """Returns one argument's schema with its references resolved, without title, without null if it is optional, and
    without marks that only the serving service reads."""
    shown = {
        name: value
        for name, value in rule.items()
        if name not in _NOT_SHOWN and not name.startswith("x-") and (name, value) != ("default", None)
    }
    if "$ref" in rule:
        definition = object_of(definitions[str(rule["$ref"]).rpartition("/")[2]])
        shown = {"type": definition["type"], "enum": definition["enum"], **shown}
    for choice in objects_of(rule.get("anyOf")):
        if choice.get("type") != "null":
            shown = {**_shown(choice, definitions), **shown}
    if is_object(items := shown.get("items")):
        shown["items"] = _shown(items, definitions)
    return shown
