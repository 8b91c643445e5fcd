"""What is to be deleted, as the stores keep it while it is under way."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

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


class CompanyEraser(Protocol):
    """Takes whole companies out of where they are kept."""

    async def erase_company(self, company: str) -> Mapping[str, int]:
        """Deletes everything under the company's name; how much, by place. Raises a MemoryFault that is retryable."""
        ...
