"""Applies the defaults of a JSON Schema to arguments, one level deep: tools take flat arguments."""

from collections.abc import Mapping

from contracts.json_values import is_object, object_of
from tool_executor.domain.plans import Arguments


def with_defaults(arguments: Arguments, schema: Mapping[str, object]) -> dict[str, object]:
    """A copy of the arguments in which what is missing has its default. Nothing given is changed."""
    properties = object_of(schema.get("properties"))
    given = dict(arguments)
    for name, rule in properties.items():
        if name not in given and is_object(rule) and "default" in rule:
            given[name] = rule["default"]
    return given
