"""Sums over events, in documents that also contain the ids of the counted events (`seen`), so that each counts once.
Events of one document are one update, and the updates of all documents one command."""

from collections.abc import Sequence
from dataclasses import dataclass

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from memory.adapters.mongo import duplicate_writes
from runtime.stores.mongo import Collection, Document

_SINGLE_ATTEMPTS = 2
"""How often refused events are tried one by one: a document may be inserted during the first attempt."""


@dataclass(frozen=True, slots=True)
class Count:
    """What an event adds to the numbers of a document; `turn` is added to its set of turns."""

    document: str
    event: str
    add: dict[str, float]
    turn: str | None = None


async def count_once(rows: Collection, counts: Sequence[Count]) -> None:
    """Counts events that were not counted before; raises PyMongoError."""
    by_document: dict[str, dict[str, Count]] = {}
    for count in counts:
        by_document.setdefault(count.document, {})[count.event] = count
    groups = [list(group.values()) for group in by_document.values()]
    refused = await _write(rows, groups)
    # Some were counted before, or somebody inserted the document at this moment: they are tried one by one.
    singles = [[count] for group in refused for count in group]
    for _ in range(_SINGLE_ATTEMPTS):
        if singles:
            singles = await _write(rows, singles)
    # An event that is still refused has been counted already.


async def _write(rows: Collection, groups: Sequence[Sequence[Count]]) -> list[Sequence[Count]]:
    """Writes the groups, and returns those that were refused because their document contains one of the events."""
    try:
        await rows.bulk_write([_update(group) for group in groups], ordered=False)
    except BulkWriteError as error:
        return [groups[index] for index in sorted(duplicate_writes(error))]
    return []


def _update(group: Sequence[Count]) -> UpdateOne:
    sums: dict[str, float] = {}
    for count in group:
        for name, value in count.add.items():
            sums[name] = sums.get(name, 0) + value
    events = [count.event for count in group]
    update: Document = {"$inc": sums, "$push": {"seen": {"$each": events}}}
    if turns := [count.turn for count in group if count.turn is not None]:
        update["$addToSet"] = {"turns": {"$each": turns}}
    # $nin, not $ne: in an update, some servers compare $ne with the whole array.
    return UpdateOne({"_id": group[0].document, "seen": {"$nin": events}}, update, upsert=True)
