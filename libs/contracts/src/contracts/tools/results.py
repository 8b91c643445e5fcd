"""What tools' results share, and the JSON Schema that callers see.

The serving service makes the model, and the executor checks the schema that is made from it: bounds are only in the
schema. Figures are JSON numbers, unknown ones null.
"""

from datetime import datetime
from typing import Annotated, Any

from pydantic import Field, WithJsonSchema

from contracts.envelope import Snake
from contracts.json_values import JsonObject, is_object, list_of, object_of, objects_of

NonEmpty = Annotated[str, WithJsonSchema({"type": "string", "minLength": 1})]
Price = Annotated[float, WithJsonSchema({"type": "number", "exclusiveMinimum": 0})]
Share = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0, "maximum": 1})]
Score = Annotated[float, WithJsonSchema({"type": "number", "minimum": -1, "maximum": 1})]
Fall = Annotated[float, WithJsonSchema({"type": "number", "minimum": -1, "maximum": 0})]
"""A fraction that was lost: -0.25 is a quarter."""
Spread = Annotated[float, WithJsonSchema({"type": "number", "minimum": 0})]
Number = Annotated[int | float, WithJsonSchema({"type": "number"})]
"""An integer stays one: 14, not 14.0."""
Volume = Annotated[int | float, WithJsonSchema({"type": "number", "minimum": 0})]
"""Shares or coins: an integer if it is whole."""
NOT_REQUIRED: Any = Field(json_schema_extra={"x-not-required": True})
"""A field that our service returns, and that the schema does not ask of every service."""
_NOT_SHOWN = {"title", "description", "default", "x-not-required", "$defs", "$ref", "anyOf"}


class Sourced(Snake):
    """The base of answers about the market: the source of their figures, and the time of these."""

    source: NonEmpty
    as_of: datetime


class OptionallySourced(Snake):
    """The base of answers whose source and time the schema does not ask of every service."""

    source: NonEmpty = NOT_REQUIRED
    as_of: datetime = NOT_REQUIRED


def output_schema(result: type[Snake]) -> JsonObject:
    """Returns a tool's data as JSON Schema 2020-12: at least the fields that are required; the tool may return more. A
    new field is not required, since a service of the last release does not return it."""
    shape = result.model_json_schema(mode="serialization")
    return _shown(shape, object_of(shape.get("$defs")))


def _shown(rule: JsonObject, definitions: JsonObject) -> JsonObject:
    """Returns a schema with its references resolved, and `type: [..., null]` for what may be null."""
    if "$ref" in rule:
        return _shown(object_of(definitions[str(rule["$ref"]).rpartition("/")[2]]), definitions)
    if choices := objects_of(rule.get("anyOf")):
        [present] = [_shown(choice, definitions) for choice in choices if choice.get("type") != "null"]
        return {**present, "type": [present["type"], "null"]}
    shown = {name: value for name, value in rule.items() if name not in _NOT_SHOWN}
    if is_object(properties := shown.get("properties")):
        rules = {name: object_of(rule) for name, rule in properties.items()}
        shown["properties"] = {name: _shown(rule, definitions) for name, rule in rules.items()}
        shown["required"] = [
            name for name in list_of(shown.get("required")) if "x-not-required" not in rules[str(name)]
        ]
    for name in ("items", "additionalProperties", "propertyNames"):
        if is_object(inner := shown.get(name)):
            shown[name] = _shown(inner, definitions)
    return shown
