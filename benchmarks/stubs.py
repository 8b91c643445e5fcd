"""Stubs of memory's stores and neighbours with prepared answers, so that only memory's own work remains."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import Any

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
    log: Any = SimpleNamespace(era=ERA, first_seq=1, whole_from=1)
    window = RecentMessages(MESSAGES, tuple(messages[-WINDOW_SIZE:]), is_complete=False)
    state = InboxConversation(COMPANY, CONVERSATION, message_count=MESSAGES, started_at=NOW)
    state.last_position = LogPosition(ERA, MESSAGES)
    calls = [PastToolCall(NOW, "tool_1", ("AAPL",))] * USES
    market = _market()
    histories = HistoryReader(
        facts=nothing, conversations=nothing, windows=answering(get=window), log=log, floor=nothing, deadline=1
    )
    conversations = PastConversations(
        histories=histories,
        conversations=answering(get=state),
        summaries=answering(load=None),
        uses=answering(newest=calls),
        market=market,
        log=log,
        clock=FakeClock(NOW),
    )
    remembered = Versioned("v", Remembered(MEMORY))
    return ContextBuilder(
        memories=Memories(store=answering(load=remembered), announcements=nothing, clock=FakeClock(NOW)),
        conversations=conversations,
        short_term=answering(get=ShortTermMemory()),
        market=market,
        tools=answering(categories={f"tool_{number}": "market" for number in range(TOOLS)}),
        clock=FakeClock(NOW),
        seconds=5,
        knowledge=nothing,
        caught_up=answering(wait=None).wait,
    )


def answering(**answers: object) -> Any:
    """Returns a stub whose methods return these values, whatever they are asked."""

    def method(value: object) -> Callable[..., Awaitable[object]]:
        async def answer(*_: object) -> object:
            return value

        return answer

    return SimpleNamespace(**{name: method(value) for name, value in answers.items()})


MEMORY = LongTermMemory(
    favorite_symbols=[f"F{number}" for number in range(FAVOURITES)],
    trading_style="swing",
    user_notes=["vive en Lima"],
    preferences=["I prefer bonds"],
    risk_profile="moderate",
)


def _market() -> Any:
    """Returns a stub of the market, with prepared answers."""
    names = ["AAPL", "MSFT", *(f"F{n}" for n in range(FAVOURITES)), *(f"H{n}" for n in range(POSITIONS))]
    known_quotes = {name: _quote(name) for name in names}
    rows = [
        {"symbol": f"H{n}", "quantity": 2.0, "average_price": 9.0, "price": 10.0, "value": 20.0, "unrealized": 2.0}
        for n in range(POSITIONS)
    ]
    holdings = Holdings(
        portfolio={"positions": rows, "cash": 99_000.0, "equity": 99_200.0},
        alerts=[ActiveAlert(id="a1", symbol="AAPL", condition=">=", price=200.0)],
        watchlist=[],
    )
    events = [
        MarketEvent(date=NOW.date(), name=f"Event {n}", impact="high", kind="economy", source="x")
        for n in range(EVENTS)
    ]
    status = MarketStatusReply(status="open", current_time=NOW, next_open=NOW, next_close=NOW, source="x", as_of=NOW)

    async def known_symbols(symbols: list[str]) -> frozenset[str]:
        return frozenset(symbols)

    async def quotes(symbols: Sequence[str]) -> dict[str, QuoteView]:
        return {name: known_quotes[name] for name in symbols if name in known_quotes}

    market = answering(events=events, status=status, holdings=holdings)
    market.known_symbols, market.quotes = known_symbols, quotes
    return market


def _quote(name: str) -> QuoteView:
    return QuoteView(
        symbol=name, price=10.0, change_percent=1.5, change_basis="x", currency="USD", source="x", as_of=NOW
    )
