"""How far a consumer has come in its stream, and what nobody has any more."""

from dataclasses import dataclass

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class ConsumerProgress:
    """A consumer: everything up to `done` has been taken in, and nothing beyond `furthest`: the two differ where
    something was acknowledged out of order. What lies between that and `delivered` may be at any moment. `first`,
    `last`: the sequences that the stream holds; `served`: somebody waits for its next messages."""

    done: LogPosition
    furthest: LogPosition
    delivered: LogPosition
    first: int
    last: int
    served: bool = True


@dataclass(frozen=True, slots=True)
class Missed:
    """Sequences of a stream that a store has not and cannot get any more, both ends counted."""

    source: str
    first: int
    last: int
