"""What is to be deleted, as the stores keep it while it is under way."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class Erasure:
    """A deletion under way. `up_to`: everything at or before it is to go (era 0: not carried out yet). `user` empty:
    the conversations alone go, and `people` are those who wrote in them. `receipt` empty: of an earlier release."""

    company: str
    user: str
    conversations: tuple[str, ...]
    at: datetime
    up_to: LogPosition
    receipt: str = ""
    people: tuple[str, ...] = ()


CompanyEraser = Callable[[str], Awaitable[Mapping[str, int]]]
"""Deletes everything under a company's name; how much, by place. Raises a MemoryFault that is retryable."""
