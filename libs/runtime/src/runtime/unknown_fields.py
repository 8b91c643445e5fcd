"""What a newer release wrote into a document stays there when an older one, which cannot read it, writes the document.

A store shows each document that it reads, and asks what to store instead when it writes one.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping
from typing import Any, cast

Document = dict[str, Any]
MOST = 10_000
_NAMES = ("id", "callId", "key", "number", "text")
"""Fields that name an element of a list."""


class UnknownFields:
    """The documents that say more than this release can read, as they were found, by id and version."""

    def __init__(self, fields: Collection[str] = ()) -> None:
        """`fields`: those of the document itself that are there or not, as this release decides."""
        self._fields = frozenset(fields)
        self._found: OrderedDict[str, tuple[Any, Document, Document]] = OrderedDict()

    def found(self, name: str, version: Any, stored: Mapping[str, Any], read: Mapping[str, Any]) -> None:
        """A document was read. `read`: the same as this release would write it, changed by nobody."""
        self._found.pop(name, None)
        if stored != read:
            self._found[name] = (version, dict(stored), dict(read))
            if len(self._found) > MOST:
                self._found.popitem(last=False)

    def knows(self, name: str, version: Any) -> bool:
        """Whether this version of the document says more."""
        return name in self._found and self._found[name][0] == version

    def with_them(self, name: str, version: Any, written: Document) -> Document:
        """What to store over the version that was read: `written`, with what it does not know."""
        of, stored, read = self._found.get(name, (None, written, written))
        if of != version:
            return written
        merged: Document = kept(stored, read, written)
        gone = {field for field in merged.keys() - written.keys() if field in self._fields}
        return {field: value for field, value in merged.items() if field not in gone}


def kept(stored: Any, read: Any, written: Any) -> Any:
    """`written`, with all of `stored` that is missing in `read`: what whoever wrote it could not know."""
    if written == read:
        return stored
    if isinstance(stored, dict) and isinstance(read, dict) and isinstance(written, dict):
        old, seen, new = cast("Document", stored), cast("Document", read), cast("Document", written)
        known = {name: kept(old[name], seen[name], new[name]) for name in new.keys() & old.keys() & seen.keys()}
        return {name: value for name, value in old.items() if name not in seen} | new | known
    if isinstance(stored, list) and isinstance(read, list) and isinstance(written, list):
        return _lists(cast("list[Any]", stored), cast("list[Any]", read), cast("list[Any]", written))
    return written


def _lists(stored: list[Any], read: list[Any], written: list[Any]) -> list[Any]:
    old, seen = {_name(each): each for each in stored}, {_name(each): each for each in read}
    if None in old or None in seen or len(old) < len(stored):
        return written
    result = [
        kept(old[name], seen[name], each) if (name := _name(each)) in old and name in seen else each for each in written
    ]
    names = {_name(each) for each in written}
    return result + [each for name, each in old.items() if name not in seen and name not in names]


def _name(element: Any) -> Any:
    """What tells an element from the others; None: nothing does."""
    if not isinstance(element, dict):
        return element if isinstance(element, str | int) else None
    fields = cast("Document", element)
    return next((fields[name] for name in _NAMES if isinstance(fields.get(name), str | int)), None)
