"""Receipts of deletions: what was found where (counted before it was removed), and what remains for how long.

Each run over the stores counts for itself; if a run is interrupted and repeated, the highest of its counts stays.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from contracts.erasure_rpc import ErasedBy, ErasureKind, Receipt, Remains, Removed
from contracts.streams import CHAT, TRACES, TURNS

FIRST, AGAIN, LATE = range(3)
"""The runs of a deletion: at once, for what was being stored meanwhile, and for calls that were running."""
DAILY = timedelta(hours=25)
"""After this time Redis has rewritten its file, which memory requests once a day."""
COUNTED = timedelta(days=1)
"""After this time counters of limits and the executor's records of calls have expired in Redis."""
STREAMS = ("CHAT", "TURNS", "FACTS", "TOOLS", "DLQ", "WEBHOOKS")
ASKED, TOLD, UNSURE = "asked", "told", "unsure"
"""Notes of a run on places that are counted by being emptied: it has begun on them, all have said how much it was, and
whether a run before it had not got so far."""
COUNTED_AFTER = {True: frozenset({"market-adapter", "tool-executor"}), False: frozenset({"mongodb memories"})}
"""The places that report a count only after being emptied, for people and for conversations."""
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

    def noted(self, run: int, found: Mapping[str, int]) -> "ErasureRecord":
        """The record with a run's results."""
        runs = list(self.runs)
        before = runs[run]
        runs[run] = {place: max(before.get(place, 0), found.get(place, 0)) for place in {*before, *found}}
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
        # Its records name no conversation: they keep calls from being made twice, until they expire.
        return Removed(place=place, removed=0, remains="records", gone_after=record.at + COUNTED + DAILY)
    count = sum(run.get(place, 0) for run in record.runs)
    unsure = record.runs[FIRST].get(UNSURE) and place in COUNTED_AFTER[record.kind in _PEOPLE]
    at_least = True if unsure else None
    remains, after = _left(place)
    if remains is None:
        return Removed(place=place, removed=count, at_least=at_least, gone_after=record.at)
    if not count and not at_least:
        return Removed(place=place, removed=0)
    gone_after = None if after is None else record.at + after
    return Removed(place=place, removed=count, at_least=at_least, remains=remains, gone_after=gone_after)


def _left(place: str) -> tuple[Remains | None, timedelta | None]:
    """What remains there, and for how long; None: depends on MongoDB's own settings."""
    if place == "stream CHAT":
        # A block of the file is freed when all in it is gone, and holds what lives for up to another window.
        return "freed_space", timedelta(seconds=2 * CHAT.window)
    if place == "stream TURNS":
        return "freed_space", timedelta(seconds=2 * TURNS.max_age)
    if place in {"redis", "tool-executor"}:
        return "append_file", DAILY
    if place.startswith("mongodb") or place == "market-adapter":
        return "store_space", None
    return None, None


def _elsewhere(record: ErasureRecord) -> list[Removed]:
    """Places where nothing is removed, and what they hold."""
    at = record.at
    return [
        Removed(place="limits", removed=0, remains="counters", gone_after=at + COUNTED + DAILY),
        Removed(place="stream TRACES", removed=0, remains="ids", gone_after=at + timedelta(seconds=TRACES.max_age)),
        Removed(place="agents", removed=0, remains="cache", gone_after=at + timedelta(minutes=10)),
        Removed(place="service logs", removed=0, remains="logs"),
        Removed(place="backups", removed=0, remains="backups"),
        Removed(place="model providers", removed=0, remains="providers"),
    ]
