"""A stranger's JSON Schema is counted before a value is checked against it."""

from typing import Any

import pytest

from contracts.company import faults
from contracts.json_values import list_of, object_of
from contracts.schema_cost import SchemaRefusedError, check_cost


def doubling(levels: int, *, inside: str | None = None) -> dict[str, Any]:
    """Each level asks for the next one twice: for the same value, or for the same property of it."""
    twice: list[Any] = [[{"$ref": f"#/$defs/a{n + 1}"}] * 2 for n in range(levels)]
    both = [{"allOf": pair if inside is None else [{"properties": {inside: one}} for one in pair]} for pair in twice]
    return {"$ref": "#/$defs/a0", "$defs": {f"a{n}": one for n, one in enumerate(both)} | {f"a{levels}": {}}}


def values_in(json: object) -> int:
    """How many values are in a JSON value, itself included."""
    return 1 + sum(map(values_in, [*object_of(json).values(), *list_of(json)]))


A = {"$ref": "#/$defs/a"}
CHAIN = {f"{n}": {"$ref": f"#/$defs/{n + 1}"} for n in range(99)}
ENDLESS: dict[str, dict[str, Any]] = {
    "itself": {"type": "object", "$ref": "#"},
    "a ring": {"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/b"}]}, "b": {"not": A}}, **A},
    "by a name": {"$defs": {"a": {"$anchor": "x", "then": {"$ref": "#x"}}}, "$ref": "#x"},
    "by an escaped name": {"$defs": {"a/b": {"else": {"$ref": "#/$defs/a~1b"}}}, "$ref": "#/%24defs/a~1b"},
    "by its address": {"$id": "https://example.com/s", "if": {"$ref": "https://example.com/s#"}},
    "by an address inside": {"$defs": {"a": {"$id": "https://example.com/a", "$ref": "#"}}, **A},
    "dynamically": {"$dynamicAnchor": "x", "dependentSchemas": {"a": {"$dynamicRef": "#x"}}},
    "doubled for one value": doubling(11),
    "doubled with each property": doubling(11, inside="a"),
    "doubled for each property there is": {"properties": {"a": {"allOf": [{"$ref": "#"}, {"$ref": "#"}]}}},
    "doubled by a pattern": {"properties": {"a": {"$ref": "#"}}, "patternProperties": {"^a": {"$ref": "#"}}},
    "doubled for each item": {"prefixItems": [{"$ref": "#"}], "contains": {"$ref": "#"}},
    "doubled for names": {"$defs": doubling(11)["$defs"], "propertyNames": {"$ref": "#/$defs/a0"}},
    "a long way": {"$ref": "#/$defs/0", "$defs": {**CHAIN, "99": {}}},
    "nowhere": A,
    "elsewhere": {"$ref": "https://example.com/schema.json"},
}
PLAIN: dict[str, dict[str, Any]] = {
    "a tree": {"properties": {"left": {"$ref": "#"}, "right": {"$ref": "#"}, "value": {"type": "integer"}}},
    "a list": {"items": {"$ref": "#"}, "type": ["array", "string"]},
    "choices": {"properties": {"currency": {"oneOf": [{"const": f"C{n}"} for n in range(900)]}}},
    "a large one": {"properties": {f"p{n}": {"anyOf": [{"type": "string"}, {"type": "null"}]} for n in range(5000)}},
    "one part for many": {"$defs": {"a": {}}, "properties": {f"p{n}": {"$ref": "#/$defs/a"} for n in range(5000)}},
    "the schema of schemas": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
    "ids that are names": {"properties": {"$id": {"type": "string"}, "id": {"type": "string"}, "$ref": {}}},
    "all ways": {"additionalProperties": False, "propertyNames": {"maxLength": 9}, "dependencies": {"a": ["b"]}},
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_schema_that_may_never_end_is_refused(name: str) -> None:
    with pytest.raises(SchemaRefusedError):
        check_cost(ENDLESS[name])


@pytest.mark.parametrize("name", PLAIN)
def test_what_people_write_is_not(name: str) -> None:
    assert check_cost(PLAIN[name]) <= 3 * values_in(PLAIN[name])


def test_a_company_is_told_at_the_door() -> None:
    tool = {"name": "find", "description": "Finds", "url": "https://shop.example/find", "method": "GET"}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/a0"}}, "$defs": doubling(12)["$defs"]}
    (fault,) = faults({"companyId": "acme", "ownTools": {"http": [{**tool, "inputSchema": schema}]}})
    assert fault.field == "ownTools.http.0.inputSchema"
    assert "fewer of them" in fault.message
