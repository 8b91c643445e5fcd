"""What of a conversation's log is not needed any more, once it is old and stored elsewhere.

The log's snapshot decides turns: the newest fact of each kind, and the first visitor message that waits. Of a
conversation that lies still (all of it is old, all messages are settled, the AI is the owner) that is nothing: without
any fact the owner is the AI and nobody waits. Of any other the snapshot stays as it is, to the letter.
"""

from dataclasses import dataclass

from contracts.channels import ChatKind
from contracts.conversation import Snapshot
from contracts.events.chat import OwnerKind

LEAST_AGE = 86_400.0
"""Seconds for which facts stay in any case: clients come back, and agents that stood still go on."""
PRESSED = 0.5
"""Fill of the stream from which on facts go as soon as they may, not only when the window is over."""


@dataclass(frozen=True, slots=True)
class LogState:
    """The log: its first and last sequence, how full it is (0 to 1), up to where all its consumers have read, and the
    one that is farthest behind."""

    first_seq: int
    last_seq: int
    fill: float
    read_up_to: int
    slowest: str


@dataclass(frozen=True, slots=True)
class Lying:
    """A conversation as the log has it now; see `cuts`."""

    snapshot: Snapshot
    first_waiting: int | None


@dataclass(frozen=True, slots=True)
class LogCut:
    """Facts of this kind before this sequence go; None: of every kind."""

    kind: ChatKind | None
    before: int


def cuts(snapshot: Snapshot, first_waiting: int | None, before: int) -> list[LogCut]:
    """What may go of a conversation.

    Args:
        snapshot: of the log.
        first_waiting: the sequence of the first visitor message that nothing has settled.
        before: facts at this sequence and after it stay.
    """
    if snapshot.seq < before and first_waiting is None and snapshot.owner is OwnerKind.AI:
        return [LogCut(None, before)]
    found: list[LogCut] = []
    for kind, fact in snapshot.last.items():
        end = min(fact.seq, before)
        if kind is ChatKind.VISITOR and first_waiting is not None:
            end = min(end, first_waiting)
        found.append(LogCut(kind, end))
    return found


def oldest_kept(window: float, fill: float) -> float:
    """Seconds for which facts are kept, at this fill (0 to 1) of the stream."""
    return max(LEAST_AGE, window) if fill < PRESSED else LEAST_AGE
