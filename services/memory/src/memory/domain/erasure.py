"""A running deletion of a user or of conversations, as the stores record it."""

from dataclasses import dataclass
from datetime import datetime

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class Erasure:
    """A running deletion. `up_to`: everything at or before it is to be deleted (era 0: not carried out yet). `user`
    empty: only the conversations are deleted, whose authors are `people`. `receipt` empty: begun by an earlier release.
    """

    company: str
    user: str
    conversations: tuple[str, ...]
    at: datetime
    up_to: LogPosition
    receipt: str = ""
    people: tuple[str, ...] = ()
