"""Describes JSON Schemas: a field's type, its bounds, and a matching example."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

Schema = dict[str, Any]
_FULL_DEPTH = 3
"""Depth to which examples show all fields; deeper levels show only required ones."""
_MAX_DEPTH = 12
_TEXTS = (
    "text",
    "09:30",
    "orders",
    "https://www.example.com",
    "#0b6b5d",
    "a-text-of-some-forty-characters-for-keys",
    "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
)
"""Example texts. A field without its own example uses the first one that fits."""
_FORMATS = {
    "date-time": "2026-05-04T09:30:00Z",
    "date": "2026-05-04",
    "time": "09:30:00",
    "uri": "https://www.example.com/",
    "email": "ana@example.com",
    "uuid": "018f4c1e-7c3a-7b2d-9f10-2a6b8c4d5e6f",
    "binary": "…",
}
_SCALARS: dict[str, Any] = {"string": "text", "integer": 1, "number": 1.5, "boolean": True, "null": None}


class Schemas:
    """The named schemas of one document."""

    def __init__(self, named: dict[str, Schema], examples: dict[str, Any]) -> None:
        self.named = named
        self._examples = examples

    def kind(self, schema: Schema) -> str:
        """The type of a value in words, with names of schemas in braces."""
        if "$ref" in schema:
            return "{" + named(schema) + "}"
        if parts := _branches(schema):
            return " or ".join(dict.fromkeys(self.kind(part) for part in parts))
        if "const" in schema:
            return json.dumps(schema["const"])
        kind = _type(schema) or "any value"
        if kind == "array":
            return f"list of {self.kind(schema['items'])}" if schema.get("items") else "list"
        if kind == "object" and isinstance(schema.get("additionalProperties"), dict):
            return f"object of {self.kind(schema['additionalProperties'])}"
        return f"{kind} ({schema['format']})" if "format" in schema else kind

    def bounds(self, schema: Schema) -> list[str]:
        """The bounds of a value, in words."""
        bounds = list[str]()
        for branch in (schema, *_branches(schema)):
            items = cast("Schema", branch.get("items") or {})
            bounds += [*_bounds_of(branch), *(f"each: {bound}" for bound in _bounds_of(items))]
        return list(dict.fromkeys(bounds))

    def example(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        """A value that matches the schema. `name` is the name of the field."""
        for value in (schema.get("example"), *schema.get("examples", ())[:1], schema.get("const")):
            if value is not None:
                return value
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("default") not in (None, [], {}, ""):
            return schema["default"]
        if "$ref" in schema:
            return self.example(self.named.get(named(schema), {}), name, depth)
        if parts := _branches(schema):
            empty = any(part.get("type") == "null" for part in parts)
            if empty and depth > _FULL_DEPTH:
                return None
            return self.example(next((part for part in parts if part.get("type") != "null"), parts[0]), name, depth)
        return self._generated(schema, name, depth)

    def _generated(self, schema: Schema, name: str, depth: int) -> Any:
        kind = _type(schema)
        if kind == "array":
            length = min(schema.get("maxItems", 1), 0 if depth > _FULL_DEPTH else 1)
            count = max(length, schema.get("minItems", 0))
            return [self.example(schema.get("items") or {}, name, depth + 1) for _ in range(count)]
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        known_example = self._examples.get(name)
        values = [] if known_example is None or kind != _type_of_value(known_example) else [known_example]
        if kind == "string":
            formatted = _FORMATS.get(schema.get("format", ""))
            return next(
                (
                    candidate
                    for candidate in (*values, *([formatted] if formatted else _TEXTS))
                    if _fits(schema, candidate)
                ),
                "…",
            )
        if kind in {"integer", "number"}:
            return _clamped(schema, values[0] if values else _SCALARS[kind], is_integer=kind == "integer")
        return values[0] if values else _SCALARS.get(kind)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        fields = cast("dict[str, Schema]", schema.get("properties", {}))
        needed = fields if depth < _FULL_DEPTH else schema.get("required", ())
        if depth > _MAX_DEPTH:
            return {}
        return {
            field: self.example(field_schema, field, depth + 1)
            for field, field_schema in fields.items()
            if field in needed
        }

    def used(self, *roots: Any) -> list[str]:
        """Names of all schemas that `roots` use, directly or indirectly, in order of appearance."""
        used_names = dict[str, None]()
        queue = list(roots)
        while queue:
            for name in _references(queue.pop(0)):
                if name not in used_names and name in self.named:
                    used_names[name] = None
                    queue.append(self.named[name])
        return list(used_names)


def named(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _fits(schema: Schema, text: str) -> bool:
    shortest, longest = schema.get("minLength", 0), schema.get("maxLength", len(text))
    return shortest <= len(text) <= longest and re.search(schema.get("pattern", ""), text) is not None


def _clamped(schema: Schema, value: float, *, is_integer: bool) -> float:
    value = max(value, schema.get("minimum", value), schema.get("exclusiveMinimum", value))
    value = min(value, schema.get("maximum", value), schema.get("exclusiveMaximum", value))
    return int(value) if is_integer else value


def _type(schema: Schema) -> str:
    """The type of a schema; of several types, the first that is not null."""
    types: str | list[str] = schema.get("type", "")
    return types if isinstance(types, str) else next((type_name for type_name in types if type_name != "null"), "null")


def _type_of_value(value: Any) -> str:
    kinds = (("boolean", bool), ("integer", int), ("number", float), ("string", str))
    return next((name for name, kind in kinds if isinstance(value, kind)), "")


def _branches(schema: Schema) -> list[Schema]:
    return [part for word in ("anyOf", "oneOf", "allOf") for part in schema.get(word, ())]


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        for word, value in cast("dict[str, Any]", part).items():
            if word == "$ref" and isinstance(value, str):
                yield value.rpartition("/")[2]
            else:
                yield from _references(value)
    elif isinstance(part, list):
        for value in cast("list[Any]", part):
            yield from _references(value)


def _bounds_of(schema: Schema) -> Iterator[str]:
    if "enum" in schema:
        yield " | ".join(json.dumps(value, ensure_ascii=False) for value in schema["enum"])
    for least, most, unit in (
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " entries"),
        ("minProperties", "maxProperties", " fields"),
        ("minimum", "maximum", ""),
        ("exclusiveMinimum", "exclusiveMaximum", ", both excluded"),
    ):
        if text := _range_text(schema.get(least), schema.get(most)):
            yield text + unit
    if "pattern" in schema:
        yield f"matches {schema['pattern']}"


def _range_text(least: Any, most: Any) -> str:
    if least is not None and most is not None:
        return f"{least} to {most}"
    if most is not None:
        return f"up to {most}"
    return f"from {least}" if least is not None else ""
