"""Which facts of a conversation's log are no longer needed, once they are old and stored elsewhere.

Turns are decided from the log's snapshot: the newest fact of each kind, and the first waiting visitor message. A
conversation at rest (all of it is old, all messages are settled, the AI is owner) needs nothing: without facts the
owner is the AI and nobody waits. For any other conversation the snapshot must stay exactly as it is.
"""

from dataclasses import dataclass

from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.events.chat import OwnerKind

MIN_AGE_SECONDS = 86_400.0
"""Seconds for which facts always stay: clients come back, and paused agents continue."""
HIGH_FILL = 0.5
"""Fill of the stream (0 to 1) from which facts are removed as soon as allowed, not only after the window."""


@dataclass(frozen=True, slots=True)
class LogState:
    """The log: its first and last sequence, its fill (0 to 1), the sequence up to which all its consumers have read,
    and the slowest consumer."""

    first_seq: int
    last_seq: int
    fill: float
    read_up_to: int
    slowest: str


@dataclass(frozen=True, slots=True)
class LoggedConversation:
    """A conversation in the log; see `cuts`."""

    snapshot: Snapshot
    first_waiting: int | None


@dataclass(frozen=True, slots=True)
class LogCut:
    """Remove facts of this kind before this sequence; None: of every kind."""

    kind: ChatKind | None
    before: int


def cuts(snapshot: Snapshot, first_waiting: int | None, before: int) -> list[LogCut]:
    """Returns the parts of a conversation's log that may be removed.

    Args:
        snapshot: of the log.
        first_waiting: the sequence of the first unsettled visitor message.
        before: facts from this sequence on stay.
    """
    if snapshot.seq < before and first_waiting is None and snapshot.owner is OwnerKind.AI:
        return [LogCut(None, before)]
    parts: list[LogCut] = []
    for kind, fact in snapshot.last.items():
        end = min(fact.seq, before)
        if kind is ChatKind.VISITOR and first_waiting is not None:
            end = min(end, first_waiting)
        parts.append(LogCut(kind, end))
    return parts


def kept_seconds(window: float, fill: float) -> float:
    """Returns the seconds for which facts are kept at this fill (0 to 1) of the stream."""
    return max(MIN_AGE_SECONDS, window) if fill < HIGH_FILL else MIN_AGE_SECONDS
