"""The deletion of a user, as the stores keep it."""

from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.domain.keys import LogPosition


@dataclass(frozen=True, slots=True)
class Erasure:
    """A user's deletion under way. `up_to`: everything at or before it is to go (era 0: not carried out yet)."""

    company: str
    user: str
    conversations: tuple[str, ...]
    at: datetime
    up_to: LogPosition


class CompanyEraser(Protocol):
    """Takes whole companies out of where they are kept."""

    async def erase_company(self, company: str) -> None:
        """Deletes everything under the company's name; raises BusUnavailable or StoreUnavailable."""
        ...
