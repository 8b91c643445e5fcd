"""Parts of JSON Schemas that several categories of tools share."""

from collections.abc import Mapping, Sequence

from contracts.symbols import normalized_symbol
from tool_executor.domain.declaration import Schema
from tool_executor.domain.plans import Arguments

TEXT: Schema = {"type": "string", "minLength": 1}
PRICE: Schema = {"type": "number", "exclusiveMinimum": 0}
SHARE: Schema = {"type": "number", "minimum": 0, "maximum": 1}


def arguments_schema(required: Mapping[str, Schema], optional: Mapping[str, Schema] | None = None) -> Schema:
    """Returns the schema of a tool's input: these arguments and no others."""
    return {
        "type": "object",
        "properties": {**required, **(optional or {})},
        "required": list(required),
        "additionalProperties": False,
    }


def data_schema(required: Mapping[str, Schema]) -> Schema:
    """Returns the schema of a tool's data: at least these fields; the tool may return more."""
    return {"type": "object", "properties": dict(required), "required": list(required)}


def list_of(item: Schema) -> Schema:
    return {"type": "array", "items": item}


def one_of(words: Sequence[str], description: str, default: str | None = None) -> Schema:
    schema: dict[str, object] = {"type": "string", "enum": list(words), "description": description}
    return schema if default is None else {**schema, "default": default}


def above_zero(description: str, maximum: float = 1e15) -> Schema:
    return {"type": "number", "exclusiveMinimum": 0, "maximum": maximum, "description": description}


def with_normal_symbol(arguments: Arguments) -> Arguments:
    """Returns the arguments with their symbol, if any, in canonical form."""
    return {**arguments, "symbol": normalized_symbol(arguments["symbol"])} if "symbol" in arguments else arguments


def with_normal_tickers(arguments: Arguments) -> Arguments:
    """Returns the arguments with their tickers in canonical form, without duplicates."""
    return {**arguments, "tickers": list(dict.fromkeys(normalized_symbol(ticker) for ticker in arguments["tickers"]))}
