"""What the use cases need from outside, as Protocols; adapters/ has the real things."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Generic, Protocol, TypeVar

from contracts.company import CompanySettings
from contracts.events.tool import ToolCallCompleted
from contracts.memory_rpc import UsageDay
from memory.domain.conversation import Conversation, Outcome, Person
from memory.domain.facts import Fact
from memory.domain.keys import Position
from memory.domain.rating import Rating
from memory.domain.recent import Window
from memory.domain.remembered import Remembered
from runtime.conversation import Decide
from runtime.publishing import Appended

ItemT = TypeVar("ItemT")


@dataclass(frozen=True, slots=True)
class Page(Generic[ItemT]):
    """Some items, and the cursor of the next page (None: this is the last)."""

    items: list[ItemT]
    next: str | None


class FactStore(Protocol):
    """The facts of every conversation, unique by event id."""

    async def add(self, facts: Sequence[Fact]) -> frozenset[Position]:
        """Stores facts; one that is there stays once, at its earliest position. Returns the positions of those that
        are only copies of a fact at an earlier position."""
        ...

    async def holds(self, facts: Sequence[Fact]) -> bool:
        """Whether all of them are stored."""
        ...

    async def newest_messages(
        self, company: str, conversation: str, up_to: Position, limit: int, since: Position | None = None
    ) -> list[Fact]:
        """The newest messages at or before `up_to` (and after `since`), oldest first."""
        ...

    async def after(self, company: str, conversation: str, since: Position, up_to: Position, limit: int) -> list[Fact]:
        """The facts with since < position ≤ up_to, in order, at most `limit`."""
        ...

    async def messages(
        self, company: str, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
    ) -> Page[Fact]:
        """A page of messages, oldest first; `latest`: the last page, and with its cursor those before it."""
        ...

    async def owner_changes(
        self, company: str, conversation: str, since: Position, up_to: Position | None, limit: int
    ) -> list[Fact]:
        """The newest changes of owner with since < position ≤ up_to, oldest first."""
        ...

    async def message(self, company: str, conversation: str, message_id: str) -> Fact | None:
        """One message by its id."""
        ...


class ConversationStore(Protocol):
    """The state of every conversation."""

    async def load(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], Conversation]:
        """The states that are there, by (company, conversation)."""
        ...

    async def save(self, states: Sequence[Conversation]) -> list[Conversation]:
        """Stores each state whose version is still the stored one (0: not there yet), as version + 1. Returns those
        that somebody else changed meanwhile."""
        ...

    async def latest_of(self, company: str, user_id: str) -> str | None:
        """The person's conversation with the latest activity."""
        ...

    async def page(self, company: str, filter_by: "InboxFilter", limit: int, cursor: str | None) -> Page[Conversation]:
        """A page of conversations, latest activity first (`needs_human`: who has waited longest)."""
        ...

    async def counts(self, company: str, operator: str) -> dict[str, int]:
        """How many are in each list, by its name; `mine`: this human agent's."""
        ...

    async def due(self, now_ms: int, limit: int) -> list[Conversation]:
        """Snoozed conversations whose time has come, and those whose visitor has said that this was all."""
        ...

    async def quiet(self, company: str, until_ms: int, limit: int) -> list[Conversation]:
        """Open conversations in which nobody has written since an answer before then; longest first."""
        ...

    async def waiting(self, limit: int) -> list[Conversation]:
        """Conversations where a visitor waits for a person, or the notice of who answers now is due; longest first."""
        ...

    async def outcomes(self, company: str, since: date, until: date, limit: int) -> list[Outcome]:
        """What came of the conversations that began on these days, both counted; the latest days first."""
        ...


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

    async def get(self, era: int, company: str, conversation: str) -> Window | None:
        """The window, or None when there is none (or the cache is away)."""
        ...

    def keep(self, era: int, company: str, conversation: str, window: Window) -> None:
        """Keeps it, later and perhaps."""
        ...


class Log(Protocol):
    """The stream CHAT."""

    @property
    def era(self) -> int:
        """The incarnation of the log: its creation, ms since the epoch."""
        ...

    @property
    def first_seq(self) -> int:
        """The first sequence that it holds, as far as known."""
        ...

    @property
    def whole_from(self) -> int:
        """From this sequence on nothing was trimmed, as far as known."""
        ...

    async def read(self, company: str, conversation: str, after: int, up_to: int) -> list[Fact]:
        """The conversation's facts with after < seq ≤ up_to, in order. It is sure to reach `up_to`.

        Raises:
            UnknownSequence: the log ends before `up_to`.
        """
        ...

    async def append_if(self, company: str, conversation: str, decide: Decide) -> Appended | None:
        """Appends what `decide` makes of the newest snapshot, fenced (runtime.conversation); None: nothing."""
        ...

    async def end(self) -> int:
        """The log's last sequence, now."""
        ...


class Floor(Protocol):
    """How far the projection is: every fact up to here is in the store."""

    @property
    def seq(self) -> int:
        """The floor as last seen; the true one may be higher."""
        ...

    @property
    def position(self) -> Position:
        """The floor with its era."""
        ...

    async def recent(self) -> int:
        """The floor as it was a moment ago."""
        ...

    async def reach(self, seq: int, deadline: float) -> bool:
        """Waits until the floor is at `seq`; False: not within `deadline` seconds."""
        ...


class LogClock(Protocol):
    """The clock that stamps the log's facts."""

    async def now(self) -> datetime:
        """Its time: this machine's own may be wrong."""
        ...


class Looks(Protocol):
    """When human agents last read or typed. Losing it takes a conversation from its owner at most too early."""

    async def note(self, company: str, conversation: str, operator: str, at: datetime) -> None:
        """They have looked; raises CacheUnavailable."""
        ...

    async def last(self, company: str, conversation: str, operator: str) -> datetime | None:
        """When they looked last, if within a day; raises CacheUnavailable."""
        ...


class Principals(Protocol):
    """Who a signed principal proves."""

    def person(self, principal: str, company: str, conversation: str) -> Person | None:
        """None: it proves nobody, or is of another company or for another conversation. An expired one proves as much
        as it did when the message was written."""
        ...


class CompanyStore(Protocol):
    """Company settings."""

    async def get(self, company: str) -> CompanySettings | None:
        """The settings; None: there are none."""
        ...

    async def kept(self, company: str) -> CompanySettings | None:
        """As `get`, or what is left of a deleted company."""
        ...

    async def create(self, settings: CompanySettings, over: int | None = None) -> bool:
        """Stores the first version, or the first after a deletion with the version `over`; False: there are some."""
        ...

    async def living(self, company: str, limit: int) -> list[CompanySettings]:
        """As `after`, without deleted ones."""
        ...

    async def replace(self, settings: CompanySettings, over: int | None = None) -> bool:
        """Stores settings.version over the version `over`, or the one before; False: another is there."""
        ...

    async def after(self, company: str, limit: int) -> list[CompanySettings]:
        """What is kept of the companies that come after `company`, in order."""
        ...

    async def unannounced(self, limit: int) -> list[CompanySettings]:
        """Settings whose latest version may not have been told on the bus."""
        ...

    async def announced(self, company: str, version: int) -> None:
        """That version has been told."""
        ...


class Announcements(Protocol):
    """Facts that memory publishes outside conversations."""

    async def company_changed(self, settings: CompanySettings, again: str | None = None) -> None:
        """company.config.changed.v1, secrets hidden; returns once it is stored. `again`: names a repeat of what was
        told long ago."""
        ...

    async def company_told(self, company: str) -> tuple[CompanySettings, datetime] | None:
        """What the bus holds as the newest settings, and since when."""
        ...

    async def companies_told(self) -> list[CompanySettings]:
        """The newest settings that the bus holds, of every company."""
        ...

    async def memory_updated(self, company: str, user: str, fields: Sequence[str], turn: str | None) -> None:
        """memory.updated.v1; returns once it is stored."""
        ...


class KnownSymbols(Protocol):
    """The market's symbols."""

    async def known(self, symbols: list[str]) -> frozenset[str]:
        """Those of the symbols that have a price; raises MarketUnavailable."""
        ...


class ExecutionStore(Protocol):
    """The log of tool calls."""

    async def add(self, company: str, event_id: str, at: datetime, call: ToolCallCompleted) -> None:
        """Stores one outcome, once for each company, user and call."""
        ...


@dataclass(frozen=True, slots=True)
class Versioned:
    """What is remembered of a user, and the version that a change of it replaces (None: nothing is stored yet)."""

    version: str | None
    state: Remembered


class MemoryStore(Protocol):
    """What is remembered of users."""

    async def load(self, company: str, user: str) -> Versioned:
        """As it is now; empty when nothing is remembered."""
        ...

    async def save(self, company: str, user: str, state: Remembered, over: str | None, version: str) -> bool:
        """Stores it as `version` over the version `over`; False: another one is there."""
        ...

    async def delete(self, company: str, user: str) -> bool:
        """Deletes it; True when there was something."""
        ...


@dataclass(frozen=True, slots=True)
class Spent:
    """What one event says was used on a day (UTC); `cost` in US dollars, `unpriced` where there was no price."""

    day: date
    turn_id: str | None
    prompt_tokens: int
    completion_tokens: int
    cost: float
    unpriced: bool = False


class UsageStore(Protocol):
    """What companies used."""

    async def add(self, company: str, event_id: str, spent: Spent) -> None:
        """Counts it, once an event."""
        ...

    async def days(self, company: str, since: date, until: date) -> list[UsageDay]:
        """The days on which something was used, both ends counted, oldest first."""
        ...


class RatingStore(Protocol):
    """What people thought of answers."""

    async def put(self, rating: Rating) -> None:
        """Keeps it, unless the same user's later word on the same answer is there."""
        ...

    async def between(self, company: str, since: date, until: date, limit: int) -> list[Rating]:
        """The ratings given on these days, both counted; the latest days first."""
        ...
