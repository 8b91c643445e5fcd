"""Sums over events, in documents that also hold the ids of the events counted (`seen`), so that each counts once.
Events of one document are one update, updates of all documents one command."""

from collections.abc import Sequence
from dataclasses import dataclass

from pymongo import UpdateOne
from pymongo.errors import BulkWriteError

from memory.adapters.mongo import duplicate_writes
from runtime.stores.mongo import Collection, Document

_ONCE_MORE = 2


@dataclass(frozen=True, slots=True)
class Count:
    """The changes that an event makes to the numbers of a document; `turn` is added to its set of turns."""

    document: str
    event: str
    add: dict[str, float]
    turn: str | None = None


async def count_once(rows: Collection, counts: Sequence[Count]) -> None:
    """Counts them; raises PyMongoError."""
    together: dict[str, dict[str, Count]] = {}
    for one in counts:
        together.setdefault(one.document, {})[one.event] = one
    groups = [list(group.values()) for group in together.values()]
    doubtful = await _write(rows, groups)
    # Some of them were counted before, or somebody has made the document in this moment: each by itself.
    alone = [[one] for group in doubtful for one in group]
    for _ in range(_ONCE_MORE):
        if alone:
            alone = await _write(rows, alone)
    # What a document still refuses, it has counted already.


async def _write(rows: Collection, groups: Sequence[Sequence[Count]]) -> list[Sequence[Count]]:
    """The groups in which a document already holds an event."""
    try:
        await rows.bulk_write([_update(group) for group in groups], ordered=False)
    except BulkWriteError as error:
        return [groups[index] for index in sorted(duplicate_writes(error))]
    return []


def _update(group: Sequence[Count]) -> UpdateOne:
    sums: dict[str, float] = {}
    for one in group:
        for name, value in one.add.items():
            sums[name] = sums.get(name, 0) + value
    events = [one.event for one in group]
    update: Document = {"$inc": sums, "$push": {"seen": {"$each": events}}}
    if turns := [one.turn for one in group if one.turn is not None]:
        update["$addToSet"] = {"turns": {"$each": turns}}
    # $nin, not $ne: an update takes $ne for a comparison with the whole array on some servers.
    return UpdateOne({"_id": group[0].document, "seen": {"$nin": events}}, update, upsert=True)
