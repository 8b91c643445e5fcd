"""Describes JSON Schemas: a field's type, its bounds, and a matching example."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

Schema = dict[str, Any]
_WHOLE = 3
"""Levels at which an example shows all fields; below that only required ones."""
_DEEPEST = 12
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
"""Example texts; the first that matches is used if a field has none of its own."""
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
    """One document's named schemas."""

    def __init__(self, named: dict[str, Schema], examples: dict[str, Any]) -> None:
        self.named = named
        self._examples = examples

    def kind(self, schema: Schema) -> str:
        """A value's type in words, with names of schemas in braces."""
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
        """Returns the bounds of a value, in words."""
        said = list[str]()
        for one in (schema, *_branches(schema)):
            items = cast("Schema", one.get("items") or {})
            said += [*_own_bounds(one), *(f"each: {bound}" for bound in _own_bounds(items))]
        return list(dict.fromkeys(said))

    def example(self, schema: Schema, name: str = "", depth: int = 0) -> Any:
        """A matching value; `name`: the field's."""
        for given in (schema.get("example"), *schema.get("examples", ())[:1], schema.get("const")):
            if given is not None:
                return given
        if "enum" in schema:
            return schema["enum"][0]
        if schema.get("default") not in (None, [], {}, ""):
            return schema["default"]
        if "$ref" in schema:
            return self.example(self.named.get(named(schema), {}), name, depth)
        if parts := _branches(schema):
            empty = any(part.get("type") == "null" for part in parts)
            if empty and depth > _WHOLE:
                return None
            return self.example(next((part for part in parts if part.get("type") != "null"), parts[0]), name, depth)
        return self._made(schema, name, depth)

    def _made(self, schema: Schema, name: str, depth: int) -> Any:
        kind = _type(schema)
        if kind == "array":
            most = min(schema.get("maxItems", 1), 0 if depth > _WHOLE else 1)
            number = max(most, schema.get("minItems", 0))
            return [self.example(schema.get("items") or {}, name, depth + 1) for _ in range(number)]
        if kind == "object" or "properties" in schema:
            return self._object(schema, depth)
        known = self._examples.get(name)
        values = [] if known is None or kind != _kind_of(known) else [known]
        if kind == "string":
            made = _FORMATS.get(schema.get("format", ""))
            return next((one for one in (*values, *([made] if made else _TEXTS)) if _fits(schema, one)), "…")
        if kind in {"integer", "number"}:
            return _within(schema, values[0] if values else _SCALARS[kind], whole=kind == "integer")
        return values[0] if values else _SCALARS.get(kind)

    def _object(self, schema: Schema, depth: int) -> dict[str, Any]:
        fields = cast("dict[str, Schema]", schema.get("properties", {}))
        needed = fields if depth < _WHOLE else schema.get("required", ())
        if depth > _DEEPEST:
            return {}
        return {field: self.example(one, field, depth + 1) for field, one in fields.items() if field in needed}

    def used(self, *roots: Any) -> list[str]:
        """The names of all schemas that these use, directly or indirectly, in order of appearance."""
        found = dict[str, None]()
        waiting = list(roots)
        while waiting:
            for name in _references(waiting.pop(0)):
                if name not in found and name in self.named:
                    found[name] = None
                    waiting.append(self.named[name])
        return list(found)


def named(schema: Schema) -> str:
    return str(schema["$ref"]).rpartition("/")[2]


def _fits(schema: Schema, text: str) -> bool:
    least, most = schema.get("minLength", 0), schema.get("maxLength", len(text))
    return least <= len(text) <= most and re.search(schema.get("pattern", ""), text) is not None


def _within(schema: Schema, value: float, *, whole: bool) -> float:
    value = max(value, schema.get("minimum", value), schema.get("exclusiveMinimum", value))
    value = min(value, schema.get("maximum", value), schema.get("exclusiveMaximum", value))
    return int(value) if whole else value


def _type(schema: Schema) -> str:
    """Returns the type of a schema; of several, the first that says something."""
    given: str | list[str] = schema.get("type", "")
    return given if isinstance(given, str) else next((one for one in given if one != "null"), "null")


def _kind_of(value: Any) -> str:
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


def _own_bounds(schema: Schema) -> Iterator[str]:
    if "enum" in schema:
        yield " | ".join(json.dumps(one, ensure_ascii=False) for one in schema["enum"])
    for least, most, unit in (
        ("minLength", "maxLength", " characters"),
        ("minItems", "maxItems", " entries"),
        ("minProperties", "maxProperties", " fields"),
        ("minimum", "maximum", ""),
        ("exclusiveMinimum", "exclusiveMaximum", ", both excluded"),
    ):
        if text := _span(schema.get(least), schema.get(most)):
            yield text + unit
    if "pattern" in schema:
        yield f"matches {schema['pattern']}"


def _span(least: Any, most: Any) -> str:
    if least is not None and most is not None:
        return f"{least} to {most}"
    if most is not None:
        return f"up to {most}"
    return f"from {least}" if least is not None else ""
