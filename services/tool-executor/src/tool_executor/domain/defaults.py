"""Applies the defaults of a JSON Schema to arguments, one level deep: tools take flat arguments."""

from collections.abc import Mapping

from contracts.json_values import is_object, object_of
from tool_executor.domain.plans import Arguments


def with_defaults(arguments: Arguments, schema: Mapping[str, object]) -> dict[str, object]:
    """Returns a copy of the arguments with the defaults of missing ones."""
    properties = object_of(schema.get("properties"))
    completed = dict(arguments)
    for name, rule in properties.items():
        if name not in completed and is_object(rule) and "default" in rule:
            completed[name] = rule["default"]
    return completed
