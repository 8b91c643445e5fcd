"""Descriptions of the API's fields, from site/fields.toml: by field name, or by schema and field if a name has
several meanings. They fill in wherever a document has no description."""

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
    named = document.get("components", {}).get("schemas", document.get("$defs", {}))
    for name, schema in named.items():
        _describe(schema, name.rpartition("__")[2])
    rest = {key: part for key, part in document.items() if key not in {"components", "$defs"}}
    _describe(rest, str(document.get("title", "")))
    return document


def _describe(part: Any, schema: str) -> None:
    if isinstance(part, list):
        for one in cast("list[Any]", part):
            _describe(one, schema)
    elif isinstance(part, dict):
        whole = cast("dict[str, Any]", part)
        fields = whole.get("properties")
        if isinstance(fields, dict):
            for name, field in cast("dict[str, dict[str, Any]]", fields).items():
                _say(field, schema, name)
        if "in" in whole and "schema" in whole:
            _say(whole, "", str(whole["name"]))
        for one in whole.values():
            _describe(one, schema)


def _say(field: dict[str, Any], schema: str, name: str) -> None:
    if field.get("description"):
        return
    table = _table()
    text = table["of"].get(schema, {}).get(name) or table["fields"].get(name)
    if text:
        field["description"] = text
