"""Removes optional arguments that are null, because models send null for arguments that they leave out. A null that the
schema allows is kept, and so is a null in a required argument, which the schema then refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from contracts.json_values import is_list, is_object, list_of, object_of
from tool_executor.domain.declaration import Schema
from tool_executor.domain.plans import Arguments

NULL: Schema = {"type": "null"}
_MAX_DEPTH = 32


def without_nulls(arguments: Arguments, schema: Schema) -> dict[str, object]:
    """Returns a copy of the arguments without optional nulls, also in nested objects."""
    return _object_without_nulls(arguments, schema, schema, _MAX_DEPTH)


def with_nullable_arguments(schema: Schema) -> dict[str, Any]:
    """Returns the schema as callers see it: each optional argument may also be null."""
    return _with_nullable(dict(schema), _MAX_DEPTH)


def _object_without_nulls(
    value: Mapping[str, object], schema: Schema, root: Schema, depth_left: int
) -> dict[str, object]:
    properties = object_of(schema.get("properties"))
    required = list_of(schema.get("required"))
    return {
        name: _value_without_nulls(item, properties.get(name), root, depth_left - 1)
        for name, item in value.items()
        if item is not None or name in required or name not in properties or _allows_null(properties[name], root)
    }


def _value_without_nulls(value: object, schema: object, root: Schema, depth_left: int) -> object:
    if depth_left <= 0:
        return value
    if is_object(value):
        for subschema in _subschemas(schema, root):
            value = _object_without_nulls(object_of(value), subschema, root, depth_left)
        return value
    if is_list(value):
        items = next((subschema["items"] for subschema in _subschemas(schema, root) if "items" in subschema), None)
        return [_value_without_nulls(item, items, root, depth_left - 1) for item in list_of(value)]
    return value


def _subschemas(schema: object, root: Schema, depth_left: int = 8) -> Iterator[Schema]:
    """Yields the schema, and those that it contains by reference or combination."""
    if not is_object(schema) or depth_left <= 0:
        return
    rule = object_of(schema)
    yield rule
    parts = [part for keyword in ("anyOf", "oneOf", "allOf") for part in list_of(rule.get(keyword))]
    target = _target(rule.get("$ref"), root)
    for part in parts if target is None else [*parts, target]:
        yield from _subschemas(part, root, depth_left - 1)


def _target(reference: object, root: Schema) -> object:
    """Returns the schema that a reference within the document points to; None for any other reference."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    subschema: object = root
    for part in reference[2:].split("/"):
        subschema = object_of(subschema).get(part)
    return subschema


def _allows_null(schema: object, root: Schema) -> bool:
    """Whether the schema explicitly allows null."""
    return any(
        subschema.get("type") == "null"
        or "null" in list_of(subschema.get("type"))
        or None in list_of(subschema.get("enum"))
        or ("const" in subschema and subschema["const"] is None)
        for subschema in _subschemas(schema, root)
    )


def _with_nullable(schema: dict[str, object], depth_left: int) -> dict[str, object]:
    if depth_left <= 0 or not is_object(schema.get("properties")):
        return schema
    required = list_of(schema.get("required"))
    rules = {name: _nullable_inside(rule, depth_left - 1) for name, rule in object_of(schema["properties"]).items()}
    shown = {name: rule if name in required else _nullable(rule) for name, rule in rules.items()}
    return {**schema, "properties": shown}


def _nullable_inside(rule: object, depth_left: int) -> object:
    if not is_object(rule):
        return rule
    nullable = _with_nullable(dict(object_of(rule)), depth_left)
    return (
        {**nullable, "items": _nullable_inside(nullable["items"], depth_left - 1)} if "items" in nullable else nullable
    )


def _nullable(rule: object) -> object:
    """Returns the rule with null allowed: in its `type` if it has one, as the strict modes of models require."""
    if not is_object(rule):
        return rule
    nullable = dict(object_of(rule))
    if not nullable:
        return nullable
    kinds, choices = nullable.get("type"), nullable.get("enum")
    is_simple = not {"anyOf", "oneOf", "allOf", "not", "$ref", "const", "if"} & nullable.keys()
    if not is_simple or (kinds is None and choices is None):
        annotations = {name: nullable.pop(name) for name in ("description", "default") if name in nullable}
        return {"anyOf": [nullable, NULL], **annotations}
    if kinds is not None:
        types = list_of(kinds) or [kinds]
        nullable["type"] = types if "null" in types else [*types, "null"]
    if is_list(choices) and None not in choices:
        nullable["enum"] = [*list_of(choices), None]
    return nullable
