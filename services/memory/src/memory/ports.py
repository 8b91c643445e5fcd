"""Pages of a list, and values that the use cases and the stores share; Protocols where a test has another one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, Protocol, TypeVar

from memory.domain.recent import RecentMessages
from memory.domain.remembered import Remembered

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class PageOf(Generic[ItemT]):
    """Some items, and the cursor of the next page (None: this is the last)."""

    items: list[ItemT]
    next: str | None


@dataclass(frozen=True, slots=True)
class InboxFilter:
    """Which conversations; all None: every one of the company's. `turned`: in the other order."""

    state: str | None = None
    operator_id: str | None = None
    user_id: str | None = None
    unassigned: bool = False
    turned: bool = False


class RecentWindows(Protocol):
    """A cache of windows; losing any of it costs time, never truth."""

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        """The window, or None when there is none (or the cache is away)."""
        ...

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        """Keeps the window, in the background and at best effort."""
        ...


LogClock = Callable[[], Awaitable[datetime]]
"""The time of the clock that stamps the log's facts: this machine's own may be wrong."""


@dataclass(frozen=True, slots=True)
class Versioned:
    """What is remembered of a user, and the version that a change of it replaces (None: nothing is stored yet)."""

    version: str | None
    state: Remembered


class MemoryStore(Protocol):
    """What is remembered of users."""

    async def load(self, company: str, user: str) -> Versioned:
        """What is remembered; empty when it is nothing."""
        ...

    async def save(self, company: str, user: str, state: Remembered, over: str | None, version: str) -> bool:
        """Stores it as `version` over the version `over`; False: another one is there."""
        ...

    async def delete(self, company: str, user: str) -> bool:
        """Deletes it; True when there was something."""
        ...


@dataclass(frozen=True, slots=True)
class Spent:
    """What one event says was used on a day (UTC): of a company, and in a conversation where it names one; `cost` in US
    dollars, `unpriced` where there was no price."""

    company: str
    conversation: str | None
    event_id: str
    day: date
    turn_id: str | None
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced: bool = False
