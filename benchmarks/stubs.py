"""Stubs of memory's stores and neighbours with prepared answers, so that only memory's own work remains."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from contracts.context_rpc import ShortTermMemory
from contracts.conversation_rpc import MessageView
from contracts.events.chat import Role
from contracts.market_rpc import ActiveAlert, Holdings, MarketEvent, MarketStatusReply, QuoteView
from contracts.memory_rpc import LongTermMemory
from memory.adapters.mongo_executions import PastToolCall
from memory.application.contexts import ContextBuilder
from memory.application.conversation_context import PastConversations
from memory.application.history import HistoryReader
from memory.application.memories import Memories
from memory.domain.conversation import InboxConversation
from memory.domain.keys import LogPosition
from memory.domain.recent import WINDOW_SIZE, RecentMessages
from memory.domain.remembered import Remembered
from memory.domain.short_term import UserActivity
from memory.ports import Versioned
from runtime.testing.clock import FakeClock

COMPANY, CONVERSATION, USER = "acme", "c1", "ana"
MESSAGES, FAVOURITES, POSITIONS, EVENTS, USES, TOOLS = 500, 20, 10, 10, 20, 27
NOW = datetime(2026, 3, 2, 15, tzinfo=UTC)
ERA = 1
_WORDS = ("price", "margin", "and", "cash", "flow")


def conversation(tokens: int, messages: int = MESSAGES) -> list[MessageView]:
    """Returns messages with about this many tokens in all, no two texts alike."""
    words = max(tokens // messages - 5, 2)
    return [
        MessageView(
            id=f"m{number}",
            seq=number,
            role=Role.USER if number % 2 == 0 else Role.ASSISTANT,
            text=f"{number} " + " ".join(_WORDS[(number + offset) % 5] for offset in range(words)),
            created_at=NOW + timedelta(seconds=number),
        )
        for number in range(1, messages + 1)
    ]


def contexts(messages: Sequence[MessageView]) -> ContextBuilder:
    """Returns memory's context builder, in the middle of this conversation."""
    nothing: Any = None
    market, log, conversations = (
        cast("Any", Market()),
        SimpleNamespace(era=ERA, first_seq=1, whole_from=1),
        Conversations(),
    )
    # Only the attributes that these stubs have are used.
    known_log, known_conversations = cast("Any", log), cast("Any", conversations)
    histories = HistoryReader(
        facts=nothing, conversations=nothing, windows=Windows(messages), log=known_log, floor=nothing, deadline=1
    )
    conversations = PastConversations(
        histories=histories,
        conversations=known_conversations,
        summaries=cast("Any", Summaries()),
        uses=cast("Any", Uses()),
        market=market,
        log=known_log,
    )
    memories = Memories(store=Remembering(), announcements=nothing, clock=FakeClock(NOW))
    return ContextBuilder(
        memories=memories,
        conversations=conversations,
        short_term=cast("Any", ShortTerm()),
        market=market,
        tools=cast("Any", Tools()),
        clock=FakeClock(NOW),
        seconds=5,
        knowledge=nothing,
        caught_up=nothing,
    )


class Windows:
    """Stub of RecentWindows."""

    def __init__(self, messages: Sequence[MessageView]) -> None:
        self._window = RecentMessages(MESSAGES, tuple(messages[-WINDOW_SIZE:]), is_complete=False)

    async def get(self, era: int, company: str, conversation: str) -> RecentMessages | None:
        return self._window

    def keep(self, era: int, company: str, conversation: str, window: RecentMessages) -> None: ...


class Conversations:
    """Stub of ConversationStore, with the methods that are used."""

    def __init__(self) -> None:
        self._state = InboxConversation(COMPANY, CONVERSATION, message_count=MESSAGES, started_at=NOW)
        self._state.last_position = LogPosition(ERA, MESSAGES)

    async def load(self, keys: Sequence[tuple[str, str]]) -> dict[tuple[str, str], InboxConversation]:
        return {(COMPANY, CONVERSATION): self._state}


class Summaries:
    """Stub of SummaryStore without a summary, so that no message is left out."""

    async def load(self, company: str, conversation: str) -> None: ...

    async def save(self, company: str, conversation: str, summary: Any, over: str | None) -> bool:
        return True


class Uses:
    """Stub of ToolUses."""

    async def newest(self, company: str, conversation: str, limit: int) -> list[PastToolCall]:
        return [PastToolCall(NOW, "tool_1", ("AAPL",)) for _ in range(min(limit, USES))]


class Remembering:
    """Stub of MemoryStore."""

    def __init__(self) -> None:
        memory = LongTermMemory(
            favorite_symbols=[f"F{number}" for number in range(FAVOURITES)],
            trading_style="swing",
            user_notes=["vive en Lima"],
            preferences=["I prefer bonds"],
            risk_profile="moderate",
        )
        self._held = Versioned("v", Remembered(memory))

    async def load(self, company: str, user: str) -> Versioned:
        return self._held

    async def save(
        self, company: str, user: str, state: Remembered, previous_version: str | None, version: str
    ) -> bool:
        return True

    async def delete(self, company: str, user: str) -> bool:
        return True


class ShortTerm:
    """Stub of ShortTermStore."""

    async def get(self, company: str, user: str) -> ShortTermMemory:
        return ShortTermMemory()

    async def update(self, company: str, user: str, happening: UserActivity) -> None: ...

    async def clear(self, company: str, user: str) -> bool:
        return True


class Tools:
    """Stub of Tools."""

    async def categories(self, company: str, role: str, plan: str, language: str) -> Mapping[str, str]:
        return {f"tool_{number}": "market" for number in range(TOOLS)}


class Market:
    """Stub of Market, with prepared answers."""

    def __init__(self) -> None:
        names = ["AAPL", "MSFT", *(f"F{n}" for n in range(FAVOURITES)), *(f"H{n}" for n in range(POSITIONS))]
        self._quotes = {name: _quote(name) for name in names}
        rows = [
            {"symbol": f"H{n}", "quantity": 2.0, "average_price": 9.0, "price": 10.0, "value": 20.0, "unrealized": 2.0}
            for n in range(POSITIONS)
        ]
        self._holdings = Holdings(
            portfolio={"positions": rows, "cash": 99_000.0, "equity": 99_200.0},
            alerts=[ActiveAlert(id="a1", symbol="AAPL", condition=">=", price=200.0)],
            watchlist=[],
        )
        self._events = [
            MarketEvent(date=NOW.date(), name=f"Event {n}", impact="high", kind="economy", source="x")
            for n in range(EVENTS)
        ]
        self._status = MarketStatusReply(
            status="open", current_time=NOW, next_open=NOW, next_close=NOW, source="x", as_of=NOW
        )

    async def known_symbols(self, symbols: list[str]) -> frozenset[str]:
        return frozenset(symbols)

    async def quotes(self, symbols: Sequence[str]) -> dict[str, QuoteView]:
        return {name: self._quotes[name] for name in symbols if name in self._quotes}

    async def events(self, symbols: Sequence[str]) -> list[MarketEvent]:
        return self._events

    async def status(self) -> MarketStatusReply:
        return self._status

    async def holdings(self, company: str, user: str) -> Holdings:
        return self._holdings


def _quote(name: str) -> QuoteView:
    return QuoteView(
        symbol=name, price=10.0, change_percent=1.5, change_basis="x", currency="USD", source="x", as_of=NOW
    )
