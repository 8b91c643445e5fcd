"""Descriptions of the API's fields, from site/fields.toml: by field name, or by schema and field if a name has several
meanings. They are used where a document has no description."""

import tomllib
from functools import cache
from typing import Any, cast

from gateway.web.words import SITE


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads((SITE / "fields.toml").read_text(encoding="utf-8"))


def examples() -> dict[str, Any]:
    """A typical value for each field name."""
    return _table()["examples"]


def complete(document: dict[str, Any]) -> dict[str, Any]:
    """Adds descriptions to the fields and parameters of a document (OpenAPI, or one schema with its $defs) in place."""
    named_schemas = document.get("components", {}).get("schemas", document.get("$defs", {}))
    for name, schema in named_schemas.items():
        _describe(schema, name.rpartition("__")[2])
    other_parts = {key: part for key, part in document.items() if key not in {"components", "$defs"}}
    _describe(other_parts, str(document.get("title", "")))
    return document


def _describe(part: Any, schema: str) -> None:
    if isinstance(part, list):
        for entry in cast("list[Any]", part):
            _describe(entry, schema)
    elif isinstance(part, dict):
        node = cast("dict[str, Any]", part)
        fields = node.get("properties")
        if isinstance(fields, dict):
            for name, field in cast("dict[str, dict[str, Any]]", fields).items():
                _add_description(field, schema, name)
        if "in" in node and "schema" in node:
            _add_description(node, "", str(node["name"]))
        for value in node.values():
            _describe(value, schema)


def _add_description(field: dict[str, Any], schema: str, name: str) -> None:
    if field.get("description"):
        return
    table = _table()
    text = table["of"].get(schema, {}).get(name) or table["fields"].get(name)
    if text:
        field["description"] = text
