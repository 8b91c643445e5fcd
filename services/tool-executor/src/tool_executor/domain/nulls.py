"""An optional argument that is null is one that was not given: models send null for whatever they leave out.

What a schema itself lets be null is a value like any other and stays. A required argument stays too, for the schema to
refuse.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from tool_executor.domain.declaration import Schema
from tool_executor.domain.plans import Arguments

NULL: Schema = {"type": "null"}
_DEEPEST = 32


def without_nulls(arguments: Arguments, schema: Schema) -> dict[str, Any]:
    """A copy of the arguments without the optional ones that are null, in objects inside them too."""
    return _object(arguments, schema, schema, _DEEPEST)


def taking_null(schema: Schema) -> dict[str, Any]:
    """The schema as callers are shown it: each optional argument may also be null."""
    return _shown(dict(schema), _DEEPEST)


def _object(value: Mapping[str, Any], schema: Schema, root: Schema, deep: int) -> dict[str, Any]:
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    return {
        name: _value(item, properties.get(name), root, deep - 1)
        for name, item in value.items()
        if item is not None or name in required or name not in properties or _allows_null(properties[name], root)
    }


def _value(value: Any, schema: Any, root: Schema, deep: int) -> Any:
    if deep <= 0:
        return value
    if isinstance(value, dict):
        for one in _readings(schema, root):
            value = _object(cast("dict[str, Any]", value), one, root, deep)
        return cast("Any", value)
    if isinstance(value, list):
        items = next((one["items"] for one in _readings(schema, root) if "items" in one), None)
        return [_value(item, items, root, deep - 1) for item in cast("list[Any]", value)]
    return value


def _readings(schema: Any, root: Schema, deep: int = 8) -> Iterator[Schema]:
    """The schema, and those that it is made of by reference or choice."""
    if not isinstance(schema, Mapping) or deep <= 0:
        return
    known = cast("Schema", schema)
    yield known
    parts = [part for word in ("anyOf", "oneOf", "allOf") for part in cast("list[Any]", known.get(word) or ())]
    target = _target(known.get("$ref"), root)
    for part in parts if target is None else [*parts, target]:
        yield from _readings(part, root, deep - 1)


def _target(reference: object, root: Schema) -> Any:
    """What a reference within the document means; None for any other."""
    if not isinstance(reference, str) or not reference.startswith("#/"):
        return None
    found: Any = root
    for part in reference[2:].split("/"):
        found = cast("Mapping[str, Any]", found).get(part) if isinstance(found, Mapping) else None
    return found


def _allows_null(schema: Any, root: Schema) -> bool:
    """Whether the schema says in so many words that null is a value."""
    return any(
        "null" in (kind if isinstance(kind := one.get("type"), list) else [kind])
        or None in cast("list[Any]", one.get("enum") or ())
        or ("const" in one and one["const"] is None)
        for one in _readings(schema, root)
    )


def _shown(schema: dict[str, Any], deep: int) -> dict[str, Any]:
    properties = schema.get("properties")
    if deep <= 0 or not isinstance(properties, Mapping):
        return schema
    required = schema.get("required") or ()
    shown = {
        name: one if name in required else _or_null(one)
        for name, rule in cast("Mapping[str, Any]", properties).items()
        for one in [_inside(rule, deep - 1)]
    }
    return {**schema, "properties": shown}


def _inside(rule: Any, deep: int) -> Any:
    if not isinstance(rule, Mapping):
        return rule
    known = _shown(dict(cast("Mapping[str, Any]", rule)), deep)
    return {**known, "items": _inside(known["items"], deep - 1)} if "items" in known else known


def _or_null(rule: Any) -> Any:
    """The rule with null beside it: in its `type` where it has one, as strict modes of models want it."""
    if not isinstance(rule, Mapping):
        return rule
    known = dict(cast("Mapping[str, Any]", rule))
    if not known:
        return known
    kinds, choices = known.get("type"), known.get("enum")
    simple = not {"anyOf", "oneOf", "allOf", "not", "$ref", "const", "if"} & known.keys()
    if not simple or (kinds is None and choices is None):
        about = {name: known.pop(name) for name in ("description", "default") if name in known}
        return {"anyOf": [known, NULL], **about}
    if kinds is not None:
        listed = cast("list[str]", kinds if isinstance(kinds, list) else [kinds])
        known["type"] = listed if "null" in listed else [*listed, "null"]
    if choices is not None and None not in choices:
        known["enum"] = [*choices, None]
    return known
