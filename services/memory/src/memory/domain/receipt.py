"""Receipts of deletions: how much was found where (counted before it was removed), and what remains for how long.

Each run over the stores counts separately; if a run is interrupted and repeated, the highest of its counts stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contracts.erasure_rpc import ErasedBy, ErasureKind, Receipt, Remains, Removed
from contracts.streams import CHAT, TRACES, TURNS

FIRST_RUN, REPEAT_RUN, LATE_RUN = range(3)
"""The runs of a deletion: at once; for what was being stored meanwhile; for calls that were running."""
REDIS_REWRITTEN_AFTER = timedelta(hours=25)
"""After this time Redis has rewritten its file, which memory requests once a day."""
COUNTERS_EXPIRE_AFTER = timedelta(days=1)
"""After this time counters of limits and the executor's records of calls have expired in Redis."""
STREAMS = ("CHAT", "TURNS", "FACTS", "TOOLS", "DLQ", "WEBHOOKS")
NOTE_STARTED, NOTE_REPORTED, NOTE_INTERRUPTED = "asked", "told", "unsure"
"""Notes of a run about places that report a count only by being emptied: it has begun with them; all have reported; a
previous run was interrupted before they had reported."""
COUNTED_AFTER = {True: frozenset({"market-adapter", "tool-executor"}), False: frozenset({"mongodb memories"})}
"""The places that report a count only after being emptied: for people (True) and for conversations."""
COLLECTIONS = (
    "facts", "conversations", "summaries", "memories", "executions", "ratings", "lessons", "updates", "notes",
    "withdrawals", "digests", "spendings", "satisfactions", "knowledge_asked",
)  # fmt: skip
PLACES = (
    *(f"stream {name}" for name in STREAMS), *(f"mongodb {name}" for name in COLLECTIONS), "redis",
    "market-adapter", "tool-executor", "files",
)  # fmt: skip
_PEOPLE = frozenset({"user", "visitor"})


@dataclass(frozen=True, slots=True)
class ErasureRecord:
    """The record of a deletion. It contains nothing that identifies the person."""

    company: str
    receipt: str
    kind: ErasureKind
    by: ErasedBy
    at: datetime
    conversations: int
    runs: tuple[Mapping[str, int], ...] = ({}, {}, {})
    finished_at: datetime | None = None
    version: int = 0

    def noted(self, run: int, counts: Mapping[str, int]) -> "ErasureRecord":
        """Returns the record with a run's results."""
        runs = list(self.runs)
        previous = runs[run]
        runs[run] = {place: max(previous.get(place, 0), counts.get(place, 0)) for place in {*previous, *counts}}
        return replace(self, runs=tuple(runs))


def receipt_view(record: ErasureRecord) -> Receipt:
    return Receipt(
        receipt_id=record.receipt,
        kind=record.kind,
        by=record.by,
        state="running" if record.finished_at is None else "done",
        conversations=record.conversations,
        requested_at=record.at,
        finished_at=record.finished_at,
        removed=[_removed(record, place) for place in PLACES] + _elsewhere(record),
    )


def _removed(record: ErasureRecord, place: str) -> Removed:
    if place == "tool-executor" and record.kind not in _PEOPLE:
        # Its records name no conversation: they prevent repeated calls until they expire.
        return Removed(
            place=place,
            removed=0,
            remains="records",
            gone_after=record.at + COUNTERS_EXPIRE_AFTER + REDIS_REWRITTEN_AFTER,
        )
    count = sum(run.get(place, 0) for run in record.runs)
    is_unsure = record.runs[FIRST_RUN].get(NOTE_INTERRUPTED) and place in COUNTED_AFTER[record.kind in _PEOPLE]
    at_least = True if is_unsure else None
    remains, kept_for = _remains_in(place)
    if remains is None:
        return Removed(place=place, removed=count, at_least=at_least, gone_after=record.at)
    if not count and not at_least:
        return Removed(place=place, removed=0)
    gone_after = None if kept_for is None else record.at + kept_for
    return Removed(place=place, removed=count, at_least=at_least, remains=remains, gone_after=gone_after)


def _remains_in(place: str) -> tuple[Remains | None, timedelta | None]:
    """Returns what remains in a place and for how long; None: that depends on MongoDB's own settings."""
    if place == "stream CHAT":
        # A block of the file is freed once everything in it has expired, which may take up to another window.
        return "freed_space", timedelta(seconds=2 * CHAT.window)
    if place == "stream TURNS":
        return "freed_space", timedelta(seconds=2 * TURNS.max_age)
    if place in {"redis", "tool-executor"}:
        return "append_file", REDIS_REWRITTEN_AFTER
    if place.startswith("mongodb") or place == "market-adapter":
        return "store_space", None
    return None, None


def _elsewhere(record: ErasureRecord) -> list[Removed]:
    """Returns the places where nothing is removed, and what they contain."""
    at = record.at
    return [
        Removed(
            place="limits", removed=0, remains="counters", gone_after=at + COUNTERS_EXPIRE_AFTER + REDIS_REWRITTEN_AFTER
        ),
        Removed(place="stream TRACES", removed=0, remains="ids", gone_after=at + timedelta(seconds=TRACES.max_age)),
        Removed(place="agents", removed=0, remains="cache", gone_after=at + timedelta(minutes=10)),
        Removed(place="service logs", removed=0, remains="logs"),
        Removed(place="backups", removed=0, remains="backups"),
        Removed(place="model providers", removed=0, remains="providers"),
    ]
