"""The storage of the simulated bus: streams with fences and deduplication, and durable pull consumers."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

EPOCH = 1_790_000_000.0
"""The wall clock time at the start of a simulation."""
Refusal = tuple[int, int, str]


@lru_cache(maxsize=65536)
def matches(pattern: str, subject: str) -> bool:
    """Returns whether a subject matches a pattern with `*` and `>`."""
    if pattern == subject:
        return True
    if "*" not in pattern and ">" not in pattern:
        return False
    wanted, tokens = pattern.split("."), subject.split(".")
    for at, token in enumerate(wanted):
        if token == ">":
            return len(tokens) > at
        if at >= len(tokens) or token not in ("*", tokens[at]):
            return False
    return len(wanted) == len(tokens)


def stamp(seconds: float) -> str:
    """Formats a time as the server does."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(slots=True, eq=False)
class Stored:
    """One message in a stream."""

    seq: int
    subject: str
    headers: bytes
    data: bytes
    at: float
    gone: bool = False

    def head(self, stream: str) -> str:
        """Returns the headers that a direct read puts before the message's own."""
        return (
            f"NATS/1.0\r\nNats-Stream: {stream}\r\nNats-Subject: {self.subject}\r\nNats-Sequence: {self.seq}\r\n"
            f"Nats-Time-Stamp: {stamp(self.at)}\r\n"
        )


@dataclass(eq=False)
class SimulatedStream:
    """One stream. `log` also holds messages that limits have removed, for replicas that lag behind."""

    config: dict[str, Any]
    created: float
    log: list[Stored] = field(default_factory=list[Stored])
    seen: dict[str, tuple[int, float]] = field(default_factory=dict[str, tuple[int, float]])
    last: dict[str, Stored] = field(default_factory=dict[str, Stored])
    consumers: dict[str, Consumer] = field(default_factory=dict[str, "Consumer"])
    copies: set[int] = field(default_factory=set[int])
    """Sequences of messages that were stored a second time, after the bus forgot their id."""
    deduplicates: bool = True
    fences: bool = True

    @property
    def name(self) -> str:
        """Returns the stream's name."""
        return str(self.config["name"])

    @property
    def last_seq(self) -> int:
        """Returns the newest sequence, 0 for an empty stream."""
        return self.log[-1].seq if self.log else 0

    def takes(self, subject: str) -> bool:
        """Returns whether the stream stores this subject."""
        return any(matches(pattern, subject) for pattern in self.config["subjects"])

    def refusal(self, subject: str, headers: dict[str, str], size: int) -> Refusal | None:
        """Returns why a message cannot be stored (status, code, text), or None."""
        expected = headers.get("Nats-Expected-Stream")
        if expected is not None and expected != self.name:
            return 400, 10060, "expected stream does not match"
        max_size = int(self.config.get("max_msg_size", -1))
        if 0 < max_size < size:
            return 400, 10054, "message size exceeds maximum allowed"
        expected_seq = headers.get("Nats-Expected-Last-Subject-Sequence")
        if expected_seq is not None and self.fences:
            pattern = headers.get("Nats-Expected-Last-Subject-Sequence-Subject", subject)
            last = self.newest_of(pattern)
            if last != int(expected_seq):
                return 400, 10071, f"wrong last sequence: {last}"
        return None

    def newest_of(self, pattern: str) -> int:
        """Returns the highest sequence under a pattern."""
        return max(
            (message.seq for subject, message in self.last.items() if not message.gone and matches(pattern, subject)),
            default=0,
        )

    def duplicate(self, headers: dict[str, str], now: float) -> int | None:
        """Returns the sequence under which this Msg-Id is already stored, or None."""
        window = self.config.get("duplicate_window", 0) / 1e9
        found = self.seen.get(headers.get("Nats-Msg-Id", ""))
        if found is None or not self.deduplicates or now - found[1] > window:
            return None
        return found[0]

    def store(self, subject: str, raw: bytes, headers: dict[str, str], data: bytes, now: float) -> Stored:
        """Adds a message."""
        message = Stored(self.last_seq + 1, subject, raw, data, now)
        if self.config.get("max_msgs_per_subject", -1) == 1 and subject in self.last:
            self.last[subject].gone = True
        self.log.append(message)
        self.last[subject] = message
        if msg_id := headers.get("Nats-Msg-Id"):
            self.seen[msg_id] = (message.seq, now)
        return message

    def copy(self, message: Stored, now: float) -> Stored:
        """Stores a message once more."""
        duplicate = self.store(message.subject, message.headers, {}, message.data, now)
        self.copies.add(duplicate.seq)
        return duplicate

    def view(self, behind: int) -> list[Stored]:
        """Returns the messages of a replica that lags `behind` messages."""
        return self.log[: len(self.log) - behind] if behind else self.log

    def last_of_each(self, patterns: Iterable[str], behind: int) -> list[Stored]:
        """Returns the newest message of every subject under the patterns, ordered by sequence."""
        newest: dict[str, Stored] = {}
        wanted = list(patterns)
        if not behind:
            newest = {
                subject: message
                for subject, message in self.last.items()
                if any(matches(pattern, subject) for pattern in wanted)
            }
        else:
            for message in self.view(behind):
                if any(matches(pattern, message.subject) for pattern in wanted):
                    newest[message.subject] = message
        return sorted(
            (message for message in newest.values() if behind or not message.gone), key=lambda message: message.seq
        )

    def after(self, pattern: str, seq: int, behind: int) -> list[Stored]:
        """Returns the messages under a pattern from a sequence on."""
        log = self.view(behind)
        return [message for message in log[max(seq - 1, 0) :] if not message.gone and matches(pattern, message.subject)]


@dataclass(slots=True, eq=False)
class Request:
    """One pull request that waits for messages."""

    reply: str
    left: int
    ends: float
    heartbeat: float
    heard: float


@dataclass(slots=True, eq=False)
class Out:
    """A message that was delivered and is not acknowledged."""

    message: Stored
    delivered: int
    due: float
    """When it is delivered again; `waiting` is set from then until that delivery."""
    waiting: bool = False


@dataclass(eq=False)
class Consumer:
    """One durable pull consumer."""

    config: dict[str, Any]
    created: float
    next_seq: int = 1
    deliveries: int = 0
    out: dict[int, Out] = field(default_factory=dict[int, Out])
    again: deque[Out] = field(default_factory=deque[Out])
    requests: list[Request] = field(default_factory=list[Request])

    @property
    def filters(self) -> list[str]:
        """Returns the subjects it filters by; none: all."""
        subject = self.config.get("filter_subject")
        return [subject] if subject else list(self.config.get("filter_subjects") or [])

    @property
    def ack_wait(self) -> float:
        """Returns the seconds after which an unacknowledged message is delivered again."""
        return self.config.get("ack_wait", 30_000_000_000) / 1e9

    def wants(self, subject: str) -> bool:
        """Returns whether a subject matches its filters."""
        filters = self.filters
        return not filters or any(matches(pattern, subject) for pattern in filters)

    def next(self, stream: SimulatedStream) -> Out | None:
        """Returns the next message to deliver: redeliveries first, then new messages."""
        while self.again:
            out = self.again.popleft()
            if out.waiting and self.out.get(out.message.seq) is out and not out.message.gone:
                return out
        if len(self.out) >= self.config.get("max_ack_pending", 1000):
            return None
        log = stream.log
        while self.next_seq <= len(log):
            message = log[self.next_seq - 1]
            self.next_seq += 1
            if not message.gone and self.wants(message.subject):
                out = self.out[message.seq] = Out(message, 0, 0.0)
                return out
        return None

    def pending(self, stream: SimulatedStream) -> int:
        """Returns how many messages it has not delivered yet."""
        return sum(1 for message in stream.log[self.next_seq - 1 :] if not message.gone and self.wants(message.subject))
