"""Limits the cost of checking a value against a JSON Schema that a stranger has written.

A schema may refer to one that refers to two more, and so on: one page of JSON whose parts are evaluated a million times
for one value, or endlessly. Nothing can stop such a check once it runs, so the evaluations are counted beforehand,
without a value.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import unquote

from contracts.json_values import JsonObject, is_list, is_object, object_of

MOST_EVALUATIONS = 1_000
"""How many parts of a schema may be evaluated for one value."""
PATTERN_STEPS = 10_000
"""Backtracking steps of one pattern on one text, some milliseconds; the usual limit is a hundred times that."""
_DEEPEST = 64
"""Levels of nested values that are examined; deeper values are refused on arrival."""
_LONGEST = 64
"""The longest chain of references for the same value."""
_PUBLISHED = ("https://json-schema.org/draft", "http://json-schema.org/draft")
_MOST_STEPS = 300_000
"""Limit of the counting itself: visits of parts."""
_BESIDE = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_OF_NAMES = frozenset({"dependentSchemas", "dependencies", "patternProperties"})
"""Keywords whose value is an object of schemas by name, not itself a schema."""
_BY_NAME = {"properties": "property", "prefixItems": "item"}
"""Keywords with a schema for each inner value, by the kind of inner value."""
_FOR_ALL = {
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
    here = parts.evaluated({parts.add(schema): 1})
    seen: list[Counter[int]] = []
    for _ in range(_DEEPEST):
        if not here or here in seen:
            break
        seen.append(here)
        inside: Counter[int] = Counter()
        for begin in parts.begun_inside(here):
            for part, count in parts.evaluated(begin).items():
                inside[part] = max(inside[part], count)
        here = inside
    return parts.steps


def _too_often() -> SchemaRefusedError:
    return SchemaRefusedError(
        f"its references check one value more than {MOST_EVALUATIONS} times, or without end: use fewer of them"
    )


class _Parts:
    """The schema's parts by identity, and which of them are evaluated for which value; 0: a boolean, or no schema."""

    def __init__(self, root: object) -> None:
        self._root = root
        self._known: dict[int, JsonObject] = {}
        self._anchors: dict[str, list[object]] = {}
        self._led_to: dict[int, Counter[int]] = {0: Counter()}
        self.steps = 0
        self._index()

    def add(self, part: object) -> int:
        self._step(1)
        if not is_object(part):
            return 0
        self._known[id(part)] = part
        return id(part)

    def evaluated(self, begin: Mapping[int, int]) -> Counter[int]:
        """Returns how often each part is evaluated for a value, if these parts are evaluated for it."""
        all_of_them: Counter[int] = Counter()
        for part, count in begin.items():
            for other, times in self._closure(part, set()).items():
                all_of_them[other] += count * times
        self._step(len(all_of_them))
        if all_of_them.total() > MOST_EVALUATIONS:
            raise _too_often()
        return all_of_them

    def _step(self, count: int) -> None:
        self.steps += count
        if self.steps > _MOST_STEPS:
            raise _too_often()

    def begun_inside(self, here: Mapping[int, int]) -> Iterator[Counter[int]]:
        """Returns, for each property or item of a value, how often each part starts to be evaluated for it at most, if
        these parts are evaluated for the value."""
        always: dict[str, Counter[int]] = {kind: Counter() for kind in _FOR_ALL.values()}
        of_one: dict[tuple[str, str | int], Counter[int]] = {}
        for part, count in here.items():
            for word, found in self._known.get(part, {}).items():
                if word in _BY_NAME:
                    for name, inner in _named(word, found):
                        of_one.setdefault((_BY_NAME[word], name), Counter())[self.add(inner)] += count
                elif word in _FOR_ALL:
                    for _, inner in _named(word, found):
                        always[_FOR_ALL[word]][self.add(inner)] += count
        yield from always.values()
        yield from (own + always[kind] for (kind, _), own in of_one.items())

    def _closure(self, part: int, above: set[int]) -> Counter[int]:
        """The part and all parts that it refers to for the same value."""
        known = self._led_to.get(part)
        if known is not None:
            return known
        if part in above or len(above) > _LONGEST:
            raise _too_often()
        above.add(part)
        found = Counter({part: 1})
        for other in self._beside(part):
            found.update(self._closure(other, above))
            if found.total() > MOST_EVALUATIONS:
                raise _too_often()
        above.discard(part)
        self._led_to[part] = found
        return found

    def _beside(self, part: int) -> Iterator[int]:
        for word, found in self._known.get(part, {}).items():
            if word in _BESIDE:
                yield from (self.add(inner) for _, inner in _named(word, found))
            elif word in _REFERENCES and isinstance(found, str):
                yield from map(self.add, self._targets(found))

    def _targets(self, reference: str) -> list[object]:
        """Returns the parts that a reference points to: two if a name occurs twice, none for the meta-schema."""
        own = self._of_root("$id")
        place = reference.removeprefix(own.rstrip("#")) if isinstance(own, str) else reference
        if place in {"", "#"}:
            return [self._root]
        if reference.startswith(_PUBLISHED):
            return []
        if place in self._anchors:
            return self._anchors[place]
        found = self._root
        for escaped in unquote(place).split("/")[1:]:
            name = escaped.replace("~1", "/").replace("~0", "~")
            if is_list(found):
                found = found[int(name)] if name.isdecimal() and int(name) < len(found) else None
            else:
                found = object_of(found).get(name)
        if not place.startswith("#/") or not isinstance(found, (bool, dict)):
            raise SchemaRefusedError(f"it refers to {reference[:200]}; put the definition into the schema itself")
        return [found]

    def _index(self) -> None:
        """Collects all names. A part with its own `$id`, in which references would mean other parts, is refused."""
        address = "id" if "draft-04" in str(self._of_root("$schema")) else "$id"
        level: list[object] = [self._root]
        while level:
            inside: list[object] = []
            for one in level:
                if is_list(one):
                    inside += one
                elif is_object(one):
                    if one is not self._root and isinstance(one.get(address), str):
                        raise SchemaRefusedError(f"only the whole schema may have {address}, no part of it")
                    for name in (one.get("$anchor"), one.get("$dynamicAnchor")):
                        if isinstance(name, str):
                            self._anchors.setdefault(f"#{name}", []).append(one)
                    inside += one.values()
            level = inside

    def _of_root(self, word: str) -> object:
        return object_of(self._root).get(word)


def _named(word: str, found: object) -> Iterable[tuple[str | int, object]]:
    """The parts under a keyword with their names or indexes: of an object, of a list, or a single one."""
    if is_list(found):
        return enumerate(found)
    if is_object(found) and (word == "properties" or word in _OF_NAMES):
        return found.items()
    return (("", found),)
