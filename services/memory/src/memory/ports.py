"""Values that use cases and stores share, and Protocols for what has another implementation in tests."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, Protocol, TypeVar

from memory.domain.recent import RecentMessages
from memory.domain.remembered import Remembered

ItemT = TypeVar("ItemT")
OtherT = TypeVar("OtherT")


@dataclass(frozen=True, slots=True)
class PageOf(Generic[ItemT]):
    """Some items, and the cursor of the next page (None: this is the last page)."""

    items: list[ItemT]
    next: str | None

    def mapped(self, read: Callable[[ItemT], OtherT]) -> "PageOf[OtherT]":
        """The same page with `read` applied to each item."""
        return PageOf([read(item) for item in self.items], self.next)


class RecentWindows(Protocol):
    """A cache of windows; losing one costs time, never correctness."""

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        """The window; None if there is none, or the cache is unavailable."""
        ...

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None:
        """Stores the window in the background, best effort."""
        ...


LogClock = Callable[[], Awaitable[datetime]]
"""Returns the time of the clock that stamps the log's facts, since this machine's own may be wrong."""


@dataclass(frozen=True, slots=True)
class Versioned:
    """A user's memory, and the version that a change replaces (None: nothing is stored yet)."""

    version: str | None
    state: Remembered


@dataclass(frozen=True, slots=True)
class Spent:
    """The usage in one event, on a day in UTC, of a company and, if it names one, in a conversation. `cost` is in US
    dollars; `unpriced`: the tokens have no known price."""

    company: str
    conversation: str | None
    event_id: str
    day: date
    turn_id: str | None
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced: bool = False
