"""What the context of a turn is made from, as Protocols; adapters/ has the real things."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from contracts.context_rpc import ShortTermMemory
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.market_rpc import Holdings, MarketEvent, MarketStatusReply, QuoteView
from memory.domain.keys import Position
from memory.domain.short_term import Happening


class Market(Protocol):
    """The market-adapter. Every method raises MarketUnavailable."""

    async def status(self) -> MarketStatusReply:
        """The sessions, now."""
        ...

    async def events(self, symbols: Sequence[str]) -> list[MarketEvent]:
        """What lies ahead of these symbols and of the economy, soonest first."""
        ...

    async def quotes(self, symbols: Sequence[str]) -> dict[str, QuoteView]:
        """Prices by symbol, of those that a provider knows."""
        ...

    async def known(self, symbols: list[str]) -> frozenset[str]:
        """Those of the symbols that a provider knows; answers of a while ago do."""
        ...

    async def holdings(self, company: str, user: str) -> Holdings:
        """What the user holds and watches."""
        ...


class Knowledge(Protocol):
    """What the company says."""

    async def ask(self, company: str, query: KnowledgeQuery) -> KnowledgeFound:
        """The best passages, of what can be read at once."""
        ...


class Tools(Protocol):
    """The executor's catalogue."""

    async def offered(self, company: str, role: str, plan: str, language: str) -> Mapping[str, str]:
        """Category by name, in the catalogue's order; raises CatalogueUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A tool call of a conversation, and the symbols that its arguments name."""

    at: datetime
    tool: str
    symbols: tuple[str, ...]


class ToolUses(Protocol):
    """The log of tool calls."""

    async def newest(self, company: str, conversation: str, limit: int) -> list[ToolUse]:
        """The newest successful calls, newest first; raises StoreUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class StoredSummary:
    """A summary of every message up to a position."""

    text: str
    up_to: Position
    messages: int
    version: str
    at: datetime


class SummaryStore(Protocol):
    """Summaries, one a conversation. Every method raises StoreUnavailable."""

    async def load(self, company: str, conversation: str) -> StoredSummary | None:
        """The stored one."""
        ...

    async def save(self, company: str, conversation: str, summary: StoredSummary, over: str | None) -> bool:
        """Stores it over the version `over` (None: there is none); False: another one is there."""
        ...


class ShortTermStore(Protocol):
    """Short-term memories. Every method raises CacheUnavailable."""

    async def get(self, company: str, user: str) -> ShortTermMemory:
        """What still counts."""
        ...

    async def update(self, company: str, user: str, happening: Happening) -> None:
        """Takes it in whole; updates at the same moment lose nothing."""
        ...

    async def clear(self, company: str, user: str) -> bool:
        """Deletes it; True when there was something."""
        ...
