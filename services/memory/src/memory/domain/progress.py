"""A consumer's progress in its stream, and lost sequences."""

from dataclasses import dataclass

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class ConsumerProgress:
    """A consumer's progress: everything up to `done` has been processed, nothing beyond `furthest`; they differ if
    something was acknowledged out of order. Anything between that and `delivered` may be processed at any moment.
    `first`, `last`: the stream's sequences; `served`: somebody waits for its next messages."""

    done: LogPosition
    furthest: LogPosition
    delivered: LogPosition
    first: int
    last: int
    served: bool = True


@dataclass(frozen=True, slots=True)
class Missed:
    """Sequences of a stream that a store lacks and cannot get any more, both ends included."""

    source: str
    first: int
    last: int
