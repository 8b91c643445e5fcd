"""Decides how a returning client gets what it missed."""

from dataclasses import dataclass

from contracts.ws import Cursor

MAX_STREAM_DISTANCE = 20_000
"""Messages behind the stream's end up to which the stream is read. Farther back memory is asked, since a wildcard read
would scan the stream and slow everybody down."""


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
    """Send the last messages; `recovered` is False if they replace a gap."""

    recovered: bool


Plan = UpToDate | ReadLog | AskMemory | SendSnapshot


def plan_recovery(
    since: Cursor | None, newest_seq: int, bounds: Bounds, stream_distance: int = MAX_STREAM_DISTANCE
) -> Plan:
    """How to bring a client from `since` to `newest_seq`, the conversation's highest sequence."""
    if since is None:
        return SendSnapshot(recovered=True)
    if since.epoch != bounds.epoch or since.seq > max(bounds.last_seq, newest_seq):
        return SendSnapshot(recovered=False)
    if since.seq >= newest_seq:
        return UpToDate()
    is_in_log = bounds.first_seq <= since.seq + 1
    if is_in_log and bounds.last_seq - since.seq < stream_distance:
        return ReadLog(since.seq, newest_seq)
    return AskMemory(since.seq, newest_seq)
