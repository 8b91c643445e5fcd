"""Leaves out optional arguments that are null, since models send null for what they do not give. A null that the
schema allows is kept, and so is a null in a required argument, which the schema then refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from contracts.json_values import is_list, is_object, list_of, object_of
from tool_executor.domain.declaration import Schema
from tool_executor.domain.plans import Arguments

NULL: Schema = {"type": "null"}
_DEEPEST = 32


def without_nulls(arguments: Arguments, schema: Schema) -> dict[str, object]:
    """A copy of the arguments without the optional ones that are null, in objects inside them too."""
    return _object(arguments, schema, schema, _DEEPEST)


def with_nullable_arguments(schema: Schema) -> dict[str, Any]:
    """The schema as callers are shown it: each optional argument may also be null."""
    return _shown(dict(schema), _DEEPEST)


def _object(value: Mapping[str, object], schema: Schema, root: Schema, deep: int) -> dict[str, object]:
    properties = object_of(schema.get("properties"))
    required = list_of(schema.get("required"))
    return {
        name: _value(item, properties.get(name), root, deep - 1)
        for name, item in value.items()
        if item is not None or name in required or name not in properties or _allows_null(properties[name], root)
    }


def _value(value: object, schema: object, root: Schema, deep: int) -> object:
    if deep <= 0:
        return value
    if is_object(value):
        for one in _readings(schema, root):
            value = _object(object_of(value), one, root, deep)
        return value
    if is_list(value):
        items = next((one["items"] for one in _readings(schema, root) if "items" in one), None)
        return [_value(item, items, root, deep - 1) for item in list_of(value)]
    return value


def _readings(schema: object, root: Schema, deep: int = 8) -> Iterator[Schema]:
    """The schema, and those that it is made of by reference or choice."""
    if not is_object(schema) or deep <= 0:
        return
    known = object_of(schema)
    yield known
    parts = [part for word in ("anyOf", "oneOf", "allOf") for part in list_of(known.get(word))]
    target = _target(known.get("$ref"), root)
    for part in parts if target is None else [*parts, target]:
        yield from _readings(part, root, deep - 1)


def _target(reference: object, root: Schema) -> object:
    """Returns the schema that a reference within the document points to; None for any other reference."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: object = root
    for part in reference[2:].split("/"):
        found = object_of(found).get(part)
    return found


def _allows_null(schema: object, root: Schema) -> bool:
    """Whether the schema explicitly allows null."""
    return any(
        one.get("type") == "null"
        or "null" in list_of(one.get("type"))
        or None in list_of(one.get("enum"))
        or ("const" in one and one["const"] is None)
        for one in _readings(schema, root)
    )


def _shown(schema: dict[str, object], deep: int) -> dict[str, object]:
    if deep <= 0 or not is_object(schema.get("properties")):
        return schema
    required = list_of(schema.get("required"))
    shown = {
        name: one if name in required else _or_null(one)
        for name, rule in object_of(schema["properties"]).items()
        for one in [_inside(rule, deep - 1)]
    }
    return {**schema, "properties": shown}


def _inside(rule: object, deep: int) -> object:
    if not is_object(rule):
        return rule
    known = _shown(dict(object_of(rule)), deep)
    return {**known, "items": _inside(known["items"], deep - 1)} if "items" in known else known


def _or_null(rule: object) -> object:
    """The rule with null beside it: in its `type` where it has one, as strict modes of models want it."""
    if not is_object(rule):
        return rule
    known = dict(object_of(rule))
    if not known:
        return known
    kinds, choices = known.get("type"), known.get("enum")
    simple = not {"anyOf", "oneOf", "allOf", "not", "$ref", "const", "if"} & known.keys()
    if not simple or (kinds is None and choices is None):
        about = {name: known.pop(name) for name in ("description", "default") if name in known}
        return {"anyOf": [known, NULL], **about}
    if kinds is not None:
        listed = list_of(kinds) or [kinds]
        known["type"] = listed if "null" in listed else [*listed, "null"]
    if is_list(choices) and None not in choices:
        known["enum"] = [*list_of(choices), None]
    return known
