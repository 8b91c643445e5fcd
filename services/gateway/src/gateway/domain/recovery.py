"""Decides from four numbers how a returning client gets what it missed."""

from dataclasses import dataclass

from contracts.ws import Cursor

MAX_STREAM_DISTANCE = 20_000
"""The farthest behind the stream's end that the stream is read; beyond, a wildcard read would scan it and slow
everybody down, so memory is asked."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The log's epoch and its first and last sequence (first > last: it is empty)."""

    epoch: str
    first_seq: int
    last_seq: int


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The client has missed nothing."""


@dataclass(frozen=True, slots=True)
class ReadLog:
    """Read (after, up_to] from the stream."""

    after: int
    up_to: int


@dataclass(frozen=True, slots=True)
class AskMemory:
    """Read (after, up_to] from memory, once it has stored everything up to then."""

    after: int
    up_to: int


@dataclass(frozen=True, slots=True)
class SendSnapshot:
    """Send the last messages; `recovered` is false if they replace a gap."""

    recovered: bool


Plan = UpToDate | ReadLog | AskMemory | SendSnapshot


def plan_recovery(
    since: Cursor | None, newest: int, bounds: Bounds, stream_distance: int = MAX_STREAM_DISTANCE
) -> Plan:
    """Decides how to bring a client from `since` to `newest`, the conversation's highest sequence."""
    if since is None:
        return SendSnapshot(recovered=True)
    if since.epoch != bounds.epoch or since.seq > max(bounds.last_seq, newest):
        return SendSnapshot(recovered=False)
    if since.seq >= newest:
        return UpToDate()
    held = bounds.first_seq <= since.seq + 1
    if held and bounds.last_seq - since.seq < stream_distance:
        return ReadLog(since.seq, newest)
    return AskMemory(since.seq, newest)
