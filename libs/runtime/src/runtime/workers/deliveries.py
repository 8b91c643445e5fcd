"""One delivery of a message to a consumer, and the pause before the next one after an error."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from nats.aio.msg import Msg

from contracts.errors import NexusError
from runtime.bus.marks import Marks
from runtime.bus.replies import headers_of

MAX_BACKOFF = 30.0
AWAY_BACKOFF = 3.0
"""The maximum if a dependency is unavailable, so that work continues soon after it is back, in seconds."""


def nothing() -> None:
    """Does nothing: `under_way` where nobody waits for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message that is passed to a handler. `num_delivered` counts from 1; naks count too, so it does not count
    failures."""

    subject: str
    seq: int
    data: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    num_delivered: int = 1
    stored_at: float = 0.0
    """When the stream stored the message, in seconds since the epoch."""
    genuine: bool = True
    """False if it lacks the mark that its position demands (runtime.bus.marks), so that it does not count as a fact."""
    under_way: Callable[[], None] = nothing
    """Called by a handler that from now on mostly waits: its worker begins another (PullWorker's `starting`)."""


def backoff(attempt: int) -> float:
    """Returns the seconds before the next attempt: 0.3, doubling up to 30, plus a random share up to a quarter, so that
    retries spread out."""
    return min(0.3 * 2 ** min(attempt - 1, 10), MAX_BACKOFF) * (1 + random.random() / 4)


def pause_after(error: BaseException, attempt: int) -> float:
    """Returns the seconds before the next attempt after this error."""
    is_unavailable = isinstance(error, NexusError) and error.retryable
    return min(backoff(attempt), AWAY_BACKOFF + random.random()) if is_unavailable else backoff(attempt)


def delivery_of(message: Msg, marks: Marks | None = None, under_way: Callable[[], None] = nothing) -> Delivery:
    """Builds a delivery from a message and its acknowledgement subject (NATS ADR-15): `$JS.ACK.…` with 9 tokens, or 12
    with domain and account."""
    tokens = message.reply.split(".")
    count_index = 4 if len(tokens) == 9 else 6
    stream, seq, headers = tokens[count_index - 2], int(tokens[count_index + 1]), headers_of(message)
    return Delivery(
        subject=message.subject,
        seq=seq,
        data=message.data,
        headers=headers,
        genuine=marks is None or marks.genuine(stream, message.subject, seq, headers, message.data),
        num_delivered=int(tokens[count_index]),
        stored_at=int(tokens[count_index + 3]) / 1e9,
        under_way=under_way,
    )
