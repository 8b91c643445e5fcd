"""Values that a JSON Schema describes, and the same with something wrong in them. Each follows from the seed alone."""

import json
import string
from collections.abc import Mapping, Sequence
from random import Random

from contracts.json_values import JsonObject, list_of, object_of
from tests.support.json_schema import resolved

DEEP = 4
"""Levels below which only what is required is made."""
LONGEST = 20_000
"""Characters of a text that is as long as it may be."""
ODD: tuple[object, ...] = (
    None, True, False, 0, -1, 1, 1.5, -0.0, 1e308, -1e308, 2**31, 2**53 + 1, 2**63, -(2**63) - 1, 10**30, "", " ", "\n",
    "\u0000", "a\u0000b", "\u202e", "\ufeff", "👩‍👩‍👧‍👦", "ı̇", "ß" * 70, "x" * 65, "x" * 8001, "x" * 70_000,
    "*", ">", "a.b", "a b",
    "$where", "{{7*7}}", "%s%n", "../../etc/passwd", "..%2f..%2f", "<script>alert(1)</script>", "'; DROP TABLE x; --",
    "http://127.0.0.1:1/", "http://[::1]/", "file:///etc/passwd", "2026-13-45T99:99:99Z", "9999-12-31T23:59:59Z",
    "0001-01-01T00:00:00-23:59", "NaN", "Infinity", "-", "null",
    *list_of(json.loads('[[], {}, [[]], [null], {"": {}}, {"$ref": "#"}, {"$gt": ""}]')),
    {"__proto__": 1}, list(range(300)), {str(number): number for number in range(300)},
    "(" * 500, "a" * 500 + "!", "1" * 400, "\ud83d", "\uffff",
)  # fmt: skip
"""What nobody expects. Half a surrogate pair too, as a browser may write it."""


class OddValues:
    """Makes values of the schemas of one document (OpenAPI, AsyncAPI). `known`: by a word in a field's name, values
    that lead further than any that is made up, such as a conversation that is there."""

    def __init__(self, random: Random, document: JsonObject, known: Mapping[str, Sequence[str]]) -> None:
        self._random, self._document, self._known = random, document, known

    def value(self, schema: JsonObject, name: str = "", depth: int = 0) -> object:
        """One that fits, as far as a schema tells."""
        random, schema = self._random, resolved(schema, self._document)
        for word, values in self._known.items():
            if word in name.lower() and random.random() < 0.8:
                return random.choice(values)
        if "const" in schema:
            return schema["const"]
        if given := list_of(schema.get("enum", [])):
            return random.choice(given)
        if variants := list_of(schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf") or []):
            return self.value(object_of(random.choice(variants)), name, depth)
        kind = schema.get("type")
        if several := list_of(kind):
            kind = random.choice(several)
        match kind:
            case "object":
                return self._object(schema, depth)
            case "array":
                least = int(str(schema.get("minItems", 0)))
                number = least + random.randint(0, 2 if depth < DEEP and "maxItems" not in schema else 0)
                return [self.value(object_of(schema.get("items", {})), name, depth + 1) for _ in range(number)]
            case "boolean":
                return random.random() < 0.5
            case "integer" | "number":
                least, most = (
                    float(str(schema.get(bound, around))) for bound, around in (("minimum", 0), ("maximum", 100))
                )
                number = random.choice([least, most, random.uniform(least, most)])
                return int(number) if kind == "integer" else number
            case "null":
                return None
            case "string":
                return self._text(schema)
            case _:
                return random.choice(ODD)

    def spoilt(self, value: object) -> object:
        """The same with one thing wrong, somewhere."""
        random = self._random
        if (held := object_of(value)) and random.random() < 0.85:
            name = random.choice(list(held))
            match random.randrange(8):
                case 0:
                    return {key: item for key, item in held.items() if key != name}
                case 1:
                    return {**held, name + random.choice(["", "x", "\u0000", " "]): random.choice(ODD)}
                case _:
                    return {**held, name: self.spoilt(held[name])}
        if (several := list_of(value)) and random.random() < 0.7:
            at = random.randrange(len(several))
            return [*several[:at], self.spoilt(several[at]), *several[at + 1 :] * random.choice([1, 1, 400])]
        return random.choice(ODD)

    def _object(self, schema: JsonObject, depth: int) -> JsonObject:
        required = list_of(schema.get("required", []))
        share = 0.5 if depth < DEEP else 0.0
        return {
            name: self.value(object_of(item), name, depth + 1)
            for name, item in object_of(schema.get("properties", {})).items()
            if name in required or self._random.random() < share
        }

    def _text(self, schema: JsonObject) -> str:
        random = self._random
        match schema.get("format"):
            case "date-time":
                return f"20{random.randint(10, 40)}-0{random.randint(1, 9)}-1{random.randint(0, 9)}T10:00:00Z"
            case "date":
                return f"20{random.randint(10, 40)}-0{random.randint(1, 9)}-1{random.randint(0, 9)}"
            case _:
                pass
        pattern = str(schema.get("pattern", ""))
        if "https?" in pattern:
            return (
                f"https://{random.choice(['shop.example', '127.0.0.1', 'a' * 60 + '.example'])}/{random.randint(0, 9)}"
            )
        if "a-fA-F" in pattern:
            return "018f7e2a-7c0d-7b5e-8a9b-" + "".join(random.choices("0123456789abcdef", k=12))
        least, most = int(str(schema.get("minLength", 1))), min(int(str(schema.get("maxLength", 30))), LONGEST)
        letters = string.ascii_lowercase + string.digits + ("" if pattern else " .,-'ñé¿?")
        return "".join(
            random.choices(letters, k=random.choice([least, most, random.randint(least, min(most, least + 30))]))
        )


def as_json(value: object) -> bytes:
    """On the wire, with whatever JSON can say and Python's own parser can read."""
    return json.dumps(value, ensure_ascii=True).encode()
