"""Limits the cost of checking a value against a JSON Schema from an untrusted author.

A schema may refer to one that refers to two more, and so on: then the parts of one page of JSON are evaluated a million
times for one value, or endlessly. Such a check cannot be stopped once it runs, so the evaluations are counted
beforehand, without a value.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from contracts.json_values import JsonObject, is_list, is_object, object_of

MAX_EVALUATIONS = 1_000
"""How many evaluations of a schema's parts one value may cause."""
MAX_PATTERN_STEPS = 10_000
"""Backtracking steps of one pattern on one text, some milliseconds; the usual limit is a hundred times that."""
_MAX_DEPTH = 64
"""How many levels of nested values are examined; deeper values are refused on arrival."""
_MAX_CHAIN = 64
"""The longest chain of references for the same value."""
_PUBLISHED = ("https://json-schema.org/draft", "http://json-schema.org/draft")
_MAX_STEPS = 300_000
"""Limit of the counting itself, in visits of parts."""
_SAME_VALUE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_SCHEMAS_BY_NAME = frozenset({"dependentSchemas", "dependencies", "patternProperties"})
"""Keywords whose value is an object of schemas by name, not itself a schema."""
_INNER_BY_NAME = {"properties": "property", "prefixItems": "item"}
"""Keywords with a schema for each inner value, by the kind of inner value."""
_INNER_FOR_ALL = {
    **dict.fromkeys(("patternProperties", "additionalProperties", "unevaluatedProperties"), "property"),
    **dict.fromkeys(("items", "additionalItems", "contains", "unevaluatedItems"), "item"),
    "propertyNames": "name",
}
"""Keywords whose schemas may be evaluated for any inner value of a kind."""


class SchemaRefusedError(ValueError):
    """The check against this schema could take too long, or it refers to something outside."""


def check_cost(schema: object) -> int:
    """Returns how many steps the counting took, at most _MOST_STEPS. Raises SchemaRefusedError for a schema that would
    check one value too often or endlessly, or that refers to something it does not contain."""
    parts = _Parts(schema)
    current = parts.evaluated({parts.add(schema): 1})
    earlier_rounds: list[Counter[int]] = []
    for _ in range(_MAX_DEPTH):
        if not current or current in earlier_rounds:
            break
        earlier_rounds.append(current)
        inner: Counter[int] = Counter()
        for started in parts.started_inside(current):
            for part, count in parts.evaluated(started).items():
                inner[part] = max(inner[part], count)
        current = inner
    return parts.steps


def _too_many_evaluations() -> SchemaRefusedError:
    return SchemaRefusedError(
        f"its references check one value more than {MAX_EVALUATIONS} times, or without end: use fewer of them"
    )


class _Parts:
    """The schema's parts by `id()`, and which of them are evaluated for which value. Part 0 is a boolean, or no
    schema."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._parts: dict[int, JsonObject] = {}
        self._anchors: dict[str, list[object]] = {}
        self._closures: dict[int, Counter[int]] = {0: Counter()}
        self.steps = 0
        self._index()

    def add(self, part: object) -> int:
        self._step(1)
        if not is_object(part):
            return 0
        self._parts[id(part)] = part
        return id(part)

    def evaluated(self, started: Mapping[int, int]) -> Counter[int]:
        """Returns how often each part is evaluated for a value, if evaluation starts with these parts."""
        evaluations: Counter[int] = Counter()
        for part, count in started.items():
            for other, times in self._closure(part, set()).items():
                evaluations[other] += count * times
        self._step(len(evaluations))
        if evaluations.total() > MAX_EVALUATIONS:
            raise _too_many_evaluations()
        return evaluations

    def _step(self, count: int) -> None:
        self.steps += count
        if self.steps > _MAX_STEPS:
            raise _too_many_evaluations()

    def started_inside(self, evaluations: Mapping[int, int]) -> Iterator[Counter[int]]:
        """Yields for each property or item of a value how often, at most, evaluation starts with each part, if these
        parts are evaluated for the value."""
        for_all: dict[str, Counter[int]] = {kind: Counter() for kind in _INNER_FOR_ALL.values()}
        by_name: dict[tuple[str, str | int], Counter[int]] = {}
        for part, count in evaluations.items():
            for keyword, value in self._parts.get(part, {}).items():
                if keyword in _INNER_BY_NAME:
                    for name, inner in _subschemas(keyword, value):
                        by_name.setdefault((_INNER_BY_NAME[keyword], name), Counter())[self.add(inner)] += count
                elif keyword in _INNER_FOR_ALL:
                    for _, inner in _subschemas(keyword, value):
                        for_all[_INNER_FOR_ALL[keyword]][self.add(inner)] += count
        yield from for_all.values()
        yield from (named + for_all[kind] for (kind, _), named in by_name.items())

    def _closure(self, part: int, ancestors: set[int]) -> Counter[int]:
        """Returns the part and all parts that it refers to for the same value, with their counts."""
        cached = self._closures.get(part)
        if cached is not None:
            return cached
        if part in ancestors or len(ancestors) > _MAX_CHAIN:
            raise _too_many_evaluations()
        ancestors.add(part)
        evaluations = Counter({part: 1})
        for other in self._same_value_parts(part):
            evaluations.update(self._closure(other, ancestors))
            if evaluations.total() > MAX_EVALUATIONS:
                raise _too_many_evaluations()
        ancestors.discard(part)
        self._closures[part] = evaluations
        return evaluations

    def _same_value_parts(self, part: int) -> Iterator[int]:
        for keyword, value in self._parts.get(part, {}).items():
            if keyword in _SAME_VALUE:
                yield from (self.add(inner) for _, inner in _subschemas(keyword, value))
            elif keyword in _REFERENCES and isinstance(value, str):
                yield from map(self.add, self._targets(value))

    def _targets(self, reference: str) -> list[object]:
        """Returns the parts that a reference points to: two if a name occurs twice, none for the meta-schema."""
        root_id = self._root_keyword("$id")
        pointer = reference.removeprefix(root_id.rstrip("#")) if isinstance(root_id, str) else reference
        if pointer in {"", "#"}:
            return [self._root]
        if reference.startswith(_PUBLISHED):
            return []
        if pointer in self._anchors:
            return self._anchors[pointer]
        target = self._root
        for escaped in unquote(pointer).split("/")[1:]:
            name = escaped.replace("~1", "/").replace("~0", "~")
            if is_list(target):
                target = target[int(name)] if name.isdecimal() and int(name) < len(target) else None
            else:
                target = object_of(target).get(name)
        if not pointer.startswith("#/") or not isinstance(target, (bool, dict)):
            raise SchemaRefusedError(f"it refers to {reference[:200]}; put the definition into the schema itself")
        return [target]

    def _index(self) -> None:
        """Collects all names. A part with its own `$id`, in which references would mean other parts, is refused."""
        address = "id" if "draft-04" in str(self._root_keyword("$schema")) else "$id"
        level: list[object] = [self._root]
        while level:
            next_level: list[object] = []
            for part in level:
                if is_list(part):
                    next_level += part
                elif is_object(part):
                    if part is not self._root and isinstance(part.get(address), str):
                        raise SchemaRefusedError(f"only the whole schema may have {address}, no part of it")
                    for name in (part.get("$anchor"), part.get("$dynamicAnchor")):
                        if isinstance(name, str):
                            self._anchors.setdefault(f"#{name}", []).append(part)
                    next_level += part.values()
            level = next_level

    def _root_keyword(self, keyword: str) -> object:
        return object_of(self._root).get(keyword)


def _subschemas(keyword: str, value: object) -> Iterable[tuple[str | int, object]]:
    """Returns the subschemas under a keyword with their names or indexes: those of an object or a list, or the single
    one."""
    if is_list(value):
        return enumerate(value)
    if is_object(value) and (keyword == "properties" or keyword in _SCHEMAS_BY_NAME):
        return value.items()
    return (("", value),)
