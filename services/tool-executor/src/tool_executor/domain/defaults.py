"""Defaults of a JSON Schema applied to arguments, one level deep: tools take flat arguments."""

from collections.abc import Mapping
from typing import Any

from tool_executor.domain.plans import Arguments


def with_defaults(arguments: Arguments, schema: Mapping[str, Any]) -> dict[str, Any]:
    """A copy of the arguments in which what is missing has its default. Nothing given is changed."""
    properties: Mapping[str, Mapping[str, Any]] = schema.get("properties", {})
    given = dict(arguments)
    for name, rule in properties.items():
        if name not in given and "default" in rule:
            given[name] = rule["default"]
    return given
