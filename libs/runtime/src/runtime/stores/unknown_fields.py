"""Preserves fields that a newer release has written into a document when this release, which does not know them, writes
it.

A store records each document that it reads (`record`), and before it writes one, adds the unknown fields (`with_them`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from contracts.json_values import JsonObject, is_list, is_object, object_of
from runtime.recent import Bounded

MAX_DOCUMENTS = 10_000
_ID_FIELDS = ("id", "callId", "key", "number", "text")
"""Fields that identify an element of a list."""


class UnknownFields:
    """Documents as they were read that have content unknown to this release, by id and version."""

    def __init__(self, fields: Collection[str] = ()) -> None:
        """`fields`: top-level fields whose presence this release decides."""
        self._fields = frozenset(fields)
        self._found = Bounded[str, tuple[object, JsonObject, JsonObject]](MAX_DOCUMENTS)

    def record(self, name: str, version: object, stored: Mapping[str, object], read: Mapping[str, object]) -> None:
        """Records a document that was read. `read`: the document as this release would write it back unchanged."""
        self._found.pop(name, None)
        if stored != read:
            self._found[name] = (version, dict(stored), dict(read))

    def has_unknown_content(self, name: str, version: object) -> bool:
        """Whether this version of the document has unknown content."""
        return name in self._found and self._found[name][0] == version

    def with_them(self, name: str, version: object, written: JsonObject) -> JsonObject:
        """Returns what to store over the version that was read: `written`, plus the content unknown to this release."""
        found_version, stored, read = self._found.get(name, (None, written, written))
        if found_version != version:
            return written
        merged = object_of(with_unknown_content(stored, read, written))
        removed = {field for field in merged.keys() - written.keys() if field in self._fields}
        return {field: value for field, value in merged.items() if field not in removed}


def with_unknown_content(stored: object, read: object, written: object) -> object:
    """Returns `written`, plus everything in `stored` that is missing in `read`, so unknown to the author of
    `written`."""
    if written == read:
        return stored
    if is_object(stored) and is_object(read) and is_object(written):
        known = {
            name: with_unknown_content(stored[name], read[name], written[name])
            for name in written.keys() & stored.keys() & read.keys()
        }
        return {name: value for name, value in stored.items() if name not in read} | written | known
    if is_list(stored) and is_list(read) and is_list(written):
        return _merged_lists(stored, read, written)
    return written


def _merged_lists(stored: list[object], read: list[object], written: list[object]) -> list[object]:
    stored_by_id = {_element_id(element): element for element in stored}
    read_by_id = {_element_id(element): element for element in read}
    if None in stored_by_id or None in read_by_id or len(stored_by_id) < len(stored):
        return written
    merged = [
        with_unknown_content(stored_by_id[element_id], read_by_id[element_id], element)
        if (element_id := _element_id(element)) in stored_by_id and element_id in read_by_id
        else element
        for element in written
    ]
    written_ids = {_element_id(element) for element in written}
    return merged + [
        element
        for element_id, element in stored_by_id.items()
        if element_id not in read_by_id and element_id not in written_ids
    ]


def _element_id(element: object) -> str | int | None:
    """Returns the value that identifies an element of a list, or None."""
    if not is_object(element):
        return element if isinstance(element, str | int) else None
    return next((value for name in _ID_FIELDS if isinstance(value := element.get(name), str | int)), None)
