"""Preserves fields of a document that a newer release wrote when an older one, which does not know them, writes it.

A store reports each document that it reads (`found`), and before writing one asks what to store (`with_them`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from contracts.json_values import JsonObject, is_list, is_object, object_of
from runtime.recent import Bounded

MOST = 10_000
_NAMES = ("id", "callId", "key", "number", "text")
"""Fields that name an element of a list."""


class UnknownFields:
    """Documents with content that this release cannot read, as they were found, by id and version."""

    def __init__(self, fields: Collection[str] = ()) -> None:
        """`fields`: those of the document itself whose presence this release decides."""
        self._fields = frozenset(fields)
        self._found = Bounded[str, tuple[object, JsonObject, JsonObject]](MOST)

    def found(self, name: str, version: object, stored: Mapping[str, object], read: Mapping[str, object]) -> None:
        """Notes a document that was read. `read`: the same document as this release would write it unchanged."""
        self._found.pop(name, None)
        if stored != read:
            self._found[name] = (version, dict(stored), dict(read))

    def knows(self, name: str, version: object) -> bool:
        """Whether this version of the document has unknown content."""
        return name in self._found and self._found[name][0] == version

    def with_them(self, name: str, version: object, written: JsonObject) -> JsonObject:
        """Returns what to store over the version that was read: `written`, plus the content that this release does not
        know."""
        of, stored, read = self._found.get(name, (None, written, written))
        if of != version:
            return written
        merged = object_of(with_unknown_content(stored, read, written))
        gone = {field for field in merged.keys() - written.keys() if field in self._fields}
        return {field: value for field, value in merged.items() if field not in gone}


def with_unknown_content(stored: object, read: object, written: object) -> object:
    """`written`, plus everything of `stored` that is missing in `read`, since its author could not know it."""
    if written == read:
        return stored
    if is_object(stored) and is_object(read) and is_object(written):
        known = {
            name: with_unknown_content(stored[name], read[name], written[name])
            for name in written.keys() & stored.keys() & read.keys()
        }
        return {name: value for name, value in stored.items() if name not in read} | written | known
    if is_list(stored) and is_list(read) and is_list(written):
        return _lists(stored, read, written)
    return written


def _lists(stored: list[object], read: list[object], written: list[object]) -> list[object]:
    old, seen = {_name(each): each for each in stored}, {_name(each): each for each in read}
    if None in old or None in seen or len(old) < len(stored):
        return written
    result = [
        with_unknown_content(old[name], seen[name], each) if (name := _name(each)) in old and name in seen else each
        for each in written
    ]
    names = {_name(each) for each in written}
    return result + [each for name, each in old.items() if name not in seen and name not in names]


def _name(element: object) -> str | int | None:
    """Returns the value that identifies an element of a list, or None."""
    if not is_object(element):
        return element if isinstance(element, str | int) else None
    return next((value for name in _NAMES if isinstance(value := element.get(name), str | int)), None)
