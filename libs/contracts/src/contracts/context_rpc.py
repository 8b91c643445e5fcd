"""The context of a customer's turn, stored summaries, and short-term memory; served by memory.

Sequences are those of the stream CHAT, as in rpc.memory.history.v1.
"""

from datetime import date as Date  # noqa: N812 - the field is called date
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.conversation_rpc import HistoryMessage, VisitorProfile
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action
from contracts.ids import CompanyId, Id
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.market_rpc import ActiveAlert, MarketEvent
from contracts.memory_rpc import QUEUE, Experience, RiskProfile, Strategy, TradingStyle, UserRef
from contracts.rpc import Rpc

MAX_MESSAGES = 500
MAX_BYTES = 600_000
"""Bytes of messages in one context; the bus carries 1 MB at most."""

# ---------------------------------------------------------------- the context


class ContextRequest(Wire):
    """Asks for the context of one turn.

    The user's fields are those of the verified principal. The reply holds the messages with sequence ≤ `up_to_seq` that
    no summary covers: the newest `limit`, and at most `max_bytes`. `after_seq` leaves out everything up to it, which
    the caller already holds. `text` is the user's newest message.
    """

    company_id: CompanyId
    conversation_id: Id
    user_id: Id
    role: str = "user"
    plan: str = "free"
    name: str | None = Field(default=None, max_length=200)
    language: str | None = Field(default=None, max_length=35, description="of message, page or principal; es if none")
    text: str = Field(default="", max_length=8000)
    up_to_seq: int = Field(ge=0)
    after_seq: int = Field(default=0, ge=0)
    limit: int = Field(default=MAX_MESSAGES, ge=1, le=MAX_MESSAGES)
    max_bytes: int = Field(default=MAX_BYTES, ge=1_000, le=MAX_BYTES)
    agent_version: str = Field(default="", max_length=64)
    knowledge: KnowledgeQuery | None = None
    time_zone: str | None = Field(default=None, max_length=64, description="the company's: of who has said no other")
    market: bool | None = Field(default=None, description="False: the company trades nothing, and none is looked up")


class ContextUser(Wire):
    """The user: first what the token says, then what they have said or set."""

    id: Id
    name: str | None = None
    plan: str
    risk_profile: RiskProfile | None = None
    experience: Experience | None = None
    language: str = "es"
    timezone: str = "America/Mexico_City"
    preferences: list[str] = Field(default_factory=list[str])


class RelevantSymbol(Wire):
    """A symbol's current price; `change_percent` 2.5 = 2.5 %, left out if there is nothing to compare with."""

    symbol: str
    price: float
    change_percent: float | None = None
    source: str | None = None
    as_of: datetime | None = None


class ContextMarket(Wire):
    """The market now. Status, events and symbols may each be missing; then they are named in `missing`."""

    status: Annotated[Literal["open", "closed", "pre_market", "after_hours"], OPEN] | None = None
    current_time: datetime | None = None
    next_open: datetime | None = None
    next_close: datetime | None = None
    upcoming_events: list[MarketEvent] = Field(default_factory=list[MarketEvent], description="soonest first")
    relevant_symbols: list[RelevantSymbol] = Field(
        default_factory=list[RelevantSymbol], description="mentioned, then favourites, then held; at most 10"
    )
    notes: dict[str, str] | None = Field(
        default=None, description="by language: what a reader must know of the figures"
    )
    symbols: list[str] = Field(
        default_factory=list[str], description="all that the market has, if they are few and can be listed"
    )


class ContextPosition(Wire):
    """One holding of the paper account; `price`, `value` and `unrealized` are left out if no price is known."""

    symbol: str
    quantity: float
    average_price: float
    price: float | None = None
    value: float | None = None
    unrealized: float | None = None


class ContextPortfolio(Wire):
    """The positions and cash of the user's paper account."""

    positions: list[ContextPosition]
    cash: float
    equity: float
    currency: str = "USD"


class Summary(Wire):
    """A summary of every message with sequence ≤ `up_to_seq`.

    A request that extends it names its `version`.
    """

    text: str = Field(min_length=1, max_length=4_000)
    up_to_seq: int = Field(ge=0)
    messages: int = Field(ge=0, description="how many messages it covers")
    version: str
    updated_at: datetime


class ContextConversation(Wire):
    """The conversation, `recent_messages` oldest first. `omitted`: messages after the summary (or `after_seq`) that
    `limit` or `max_bytes` left out. `message_count` counts all."""

    id: Id
    started_at: datetime | None = None
    message_count: int = 0
    recent_messages: list[HistoryMessage] = Field(default_factory=list[HistoryMessage])
    omitted: int = 0
    up_to_seq: int
    summary: Summary | None = None
    recent_topics: list[str] = Field(default_factory=list[str], description="newest first, at most 5")
    mentioned_symbols: list[str] = Field(default_factory=list[str], description="newest first, at most 10")
    visitor: VisitorProfile = Field(default_factory=VisitorProfile)


class ContextMemory(Wire):
    """The facts that earlier conversations have told about the user."""

    favorite_symbols: list[str] = Field(default_factory=list[str])
    trading_style: TradingStyle | None = None
    frequent_questions: list[str] = Field(default_factory=list[str])
    recent_strategies: list[Strategy] = Field(default_factory=list[Strategy])
    user_notes: list[str] = Field(default_factory=list[str])
    answering: list[str] = Field(
        default_factory=list[str], description="what answers the message, if it asks for something that the user told"
    )


class ShortTermMemory(Wire):
    """The memory of the last hour; deleted an hour after the last activity."""

    active_conversation: Id | None = None
    recent_symbols: list[str] = Field(default_factory=list[str], description="newest first, no repeats, at most 10")
    last_activity: datetime | None = None
    pending_actions: list[Action] = Field(default_factory=list[Action], description="oldest first, unexpired")


class ContextSystem(Wire):
    """Date and time in the user's time zone, and the available tools."""

    current_date: Date
    current_time: str = Field(description="HH:MM in the user's time zone")
    agent_version: str
    available_tools: list[str] | None = Field(default=None, description="of the user's plan; None: not known now")


class FullContext(Wire):
    """The whole context; a part that failed or was slow is None and named in `missing`.

    Names with a dot are parts of parts: market.status, market.upcomingEvents, market.relevantSymbols,
    conversation.summary, conversation.recentTopics, system.availableTools, memory.answering (named where memory could
    not be read for a question that remembered facts may answer).
    """

    user: ContextUser | None = None
    market: ContextMarket | None = None
    portfolio: ContextPortfolio | None = None
    alerts: list[ActiveAlert] | None = None
    conversation: ContextConversation | None = None
    memory: ContextMemory | None = None
    short_term: ShortTermMemory | None = None
    system: ContextSystem | None = None
    knowledge: KnowledgeFound | None = Field(default=None, description="where it was asked for")
    missing: list[str] = Field(default_factory=list[str])


# ---------------------------------------------------------------- summaries


class SummarySaveRequest(Wire):
    """Saves a summary. `over`: the version that it extends; None if there was none.

    Saving the same summary again changes nothing. One that covers less than the stored one is refused.
    """

    company_id: CompanyId
    conversation_id: Id
    text: str = Field(min_length=1, max_length=4_000)
    up_to_seq: int = Field(ge=1)
    messages: int = Field(ge=1)
    over: str | None = Field(default=None, max_length=64)


class SummarySaved(Wire):
    """`saved` False: another summary was saved first, or the conversation is gone; `summary` is the stored one."""

    saved: bool
    summary: Summary | None = None


# ---------------------------------------------------------------- short-term memory


class ShortTermUpdate(Wire):
    """Changes, applied together or not at all: symbols go to the front (the first one ends up first), actions are
    added under their id, others cleared. Each update counts as activity: the hour starts again."""

    company_id: CompanyId
    user_id: Id
    conversation_id: Id | None = None
    symbols: list[str] = Field(default_factory=list[str], max_length=20)
    add_actions: list[Action] = Field(default_factory=list[Action], max_length=20)
    clear_actions: list[Id] = Field(default_factory=list[Id], max_length=100)


class ShortTermReply(Wire):
    """The short-term memory after the change."""

    memory: ShortTermMemory


class ShortTermCleared(Wire):
    """`cleared` is true if there was something to clear."""

    cleared: bool


CONTEXT = Rpc("rpc.memory.context.v1", ContextRequest, FullContext, queue=QUEUE)
SUMMARY_SAVE = Rpc("rpc.memory.summary.save.v1", SummarySaveRequest, SummarySaved, queue=QUEUE)
SHORT_TERM_GET = Rpc("rpc.memory.short_term.get.v1", UserRef, ShortTermReply, queue=QUEUE)
SHORT_TERM_UPDATE = Rpc("rpc.memory.short_term.update.v1", ShortTermUpdate, ShortTermReply, queue=QUEUE)
SHORT_TERM_CLEAR = Rpc("rpc.memory.short_term.clear.v1", UserRef, ShortTermCleared, queue=QUEUE)
