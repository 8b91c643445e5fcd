"""One delivery of a message to a consumer, and the pause before the next one after an error."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field

from nats.aio.msg import Msg

from contracts.errors import NexusError
from runtime.bus.marks import Marks
from runtime.bus.replies import headers_of

LONGEST_BACKOFF = 30.0
AWAY_BACKOFF = 3.0
"""The same if a dependency is away: work continues soon after it is back."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One message given to a handler. `num_delivered` counts from 1; naks count too, so it does not count failures."""

    subject: str
    seq: int
    data: bytes
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    num_delivered: int = 1
    stored_at: float = 0.0
    """The time at which the stream stored the message, in seconds since the epoch."""
    genuine: bool = True
    """False: it lacks the mark that its position demands (runtime.bus.marks), so nobody takes it for a fact."""


def backoff(attempt: int) -> float:
    """Seconds before the next try: 0.3 doubling to 30, plus up to a random quarter, so that retries spread out."""
    return min(0.3 * 2 ** min(attempt - 1, 10), LONGEST_BACKOFF) * (1 + random.random() / 4)


def pause_after(error: BaseException, attempt: int) -> float:
    """Seconds before the next try after this error."""
    away = isinstance(error, NexusError) and error.retryable
    return min(backoff(attempt), AWAY_BACKOFF + random.random()) if away else backoff(attempt)


def delivery_of(message: Msg, marks: Marks | None = None) -> Delivery:
    """Reads the acknowledgement subject (NATS ADR-15): `$JS.ACK.…` of 9 tokens, or 12 with domain and account."""
    tokens = message.reply.split(".")
    first = 4 if len(tokens) == 9 else 6
    stream, seq, headers = tokens[first - 2], int(tokens[first + 1]), headers_of(message)
    return Delivery(
        subject=message.subject,
        seq=seq,
        data=message.data,
        headers=headers,
        genuine=marks is None or marks.genuine(stream, message.subject, seq, headers, message.data),
        num_delivered=int(tokens[first]),
        stored_at=int(tokens[first + 3]) / 1e9,
    )
