"""What the deletion of a user needs from outside, as Protocols."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from memory.domain.keys import Position


@dataclass(frozen=True, slots=True)
class Erasure:
    """A user's deletion under way. `up_to`: everything at or before it is to go (era 0: not carried out yet)."""

    company: str
    user: str
    conversations: tuple[str, ...]
    at: datetime
    up_to: Position


class StoreEraser(Protocol):
    """Takes users out of the database, and keeps the list of deletions under way."""

    async def conversations_of(self, company: str, user: str) -> list[str]:
        """The ids of the user's conversations."""
        ...

    async def begun(self, company: str, user: str) -> Erasure | None:
        """The deletion of this user that is under way."""
        ...

    async def begin(self, job: Erasure) -> None:
        """Writes it down, over the one that was there."""
        ...

    async def due(self, before: datetime, limit: int) -> list[Erasure]:
        """Deletions begun at or before `before`, oldest first."""
        ...

    async def done(self, job: Erasure) -> None:
        """Takes it off the list, unless it has been begun anew."""
        ...

    async def erase(self, job: Erasure) -> None:
        """Deletes everything of the user."""
        ...

    async def erase_late(self, job: Erasure) -> None:
        """Deletes what was stored while the user was deleted; what is newer than `up_to` stays."""
        ...

    async def erase_calls(self, job: Erasure, *, own: bool) -> None:
        """Deletes the tool calls of the conversations; if `own`, all of the user's."""
        ...


class CompanyEraser(Protocol):
    """Takes whole companies out of where they are kept."""

    async def erase_company(self, company: str) -> None:
        """Deletes everything under the company's name; raises BusUnavailable or StoreUnavailable."""
        ...


class BusEraser(Protocol):
    """Takes users out of the streams."""

    async def erase(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes everything of the user; raises BusUnavailable."""
        ...

    async def erase_told(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes what was told of the conversations in the user's name; raises BusUnavailable."""
        ...


class CacheEraser(Protocol):
    """Takes users out of caches."""

    async def erase(self, company: str, user: str, conversations: Sequence[str]) -> None:
        """Deletes everything of the user in Redis and in every replica's own memory; raises CacheUnavailable."""
        ...


class OthersEraser(Protocol):
    """Takes users out of what other services keep."""

    async def erase(self, company: str, user: str) -> None:
        """Deletes everything of the user there; raises ServicesUnavailable."""
        ...
