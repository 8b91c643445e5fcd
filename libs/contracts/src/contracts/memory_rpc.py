"""Calls that memory serves besides conversations and settings: remembered facts of a user, and a company's usage."""

import hashlib
from datetime import date as Date  # noqa: N812 - the field is called date
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.conversation_rpc import ConversationView, MessageView
from contracts.enumerations import OPEN, OPEN_EXCEPT_INPUT
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.knowledge import KnowledgeFound, KnowledgeQuery
from contracts.languages import Language
from contracts.rpc import Rpc

QUEUE = "memory"

# ---------------------------------------------------------------- usage


class UsageRequest(Wire):
    """Asks for the days `since` to `until` (UTC), both included."""

    company_id: CompanyId
    since: Date
    until: Date


class UsageDay(Wire):
    """One day (UTC). `cost` in `currency`, by that day's prices, of the models that have a price."""

    date: Date
    turns: int = Field(ge=0)
    prompt_tokens: int = Field(ge=0)
    completion_tokens: int = Field(ge=0)
    cost: float = Field(ge=0)
    currency: str = "USD"
    unpriced_tokens: int | None = Field(
        default=None, ge=0, description="of models without a price; none: there are none"
    )


class UsageBudget(Wire):
    """Today's share of the budget, in tokens. `daily_tokens` None: there is no limit."""

    daily_tokens: int | None = None
    used_today: int = Field(ge=0)


class UsageReply(Wire):
    """Oldest day first; days without usage are left out."""

    days: list[UsageDay]
    budget: UsageBudget


# ---------------------------------------------------------------- what is remembered of a user

TradingStyle = Annotated[Literal["swing", "day_trading", "scalping", "long_term"], OPEN_EXCEPT_INPUT]
RiskProfile = Annotated[Literal["conservative", "moderate", "aggressive"], OPEN_EXCEPT_INPUT]
Experience = Annotated[Literal["beginner", "intermediate", "advanced"], OPEN_EXCEPT_INPUT]


class Strategy(Wire):
    """A trading strategy that was discussed in a turn."""

    name: str = Field(min_length=1, max_length=200)
    symbol: str | None = Field(default=None, max_length=32)
    description: str = Field(max_length=1000)
    date: Date


class Superseded(Wire):
    """A fact that was remembered until a newer one replaced it; `field` is its name on the wire."""

    field: str
    value: str
    since: datetime | None = None
    until: datetime
    by: str | None = Field(default=None, description="what took its place or ended it, in the user's words")


class LongTermMemory(Wire):
    """The facts remembered about one user of one company; at first empty."""

    favorite_symbols: list[str] = Field(default_factory=list[str], description="newest first, at most 20")
    trading_style: TradingStyle | None = None
    frequent_questions: list[str] = Field(default_factory=list[str], description="templates, at most 20")
    recent_strategies: list[Strategy] = Field(default_factory=list[Strategy], description="newest first, at most 10")
    user_notes: list[str] = Field(default_factory=list[str], description="at most 50")
    preferences: list[str] = Field(default_factory=list[str], description="in the user's own words")
    older_notes: list[str] = Field(
        default_factory=list[str], description="still true, pushed out of the lists above by newer ones; at most 200"
    )
    name: str | None = Field(default=None, min_length=1, max_length=100, description="how the user wants to be called")
    risk_profile: RiskProfile | None = None
    experience: Experience | None = None
    language: Annotated[Language, OPEN_EXCEPT_INPUT] | None = Field(
        default=None, description="None: the token's, or the page's"
    )
    timezone: str | None = Field(default=None, max_length=64, description="IANA name, e.g. America/Mexico_City")
    superseded: list[Superseded] = Field(default_factory=list[Superseded], description="newest first")
    since: dict[str, datetime] = Field(
        default_factory=dict[str, datetime],
        description="when the user said what is remembered: notes and preferences by their text, `name`, `riskProfile` "
        "and the like by their field",
    )
    updated_at: datetime | None = None


def fact_id(fact: str) -> str:
    """Returns the id of a remembered fact, derived from its text."""
    return "f" + hashlib.sha256(" ".join(fact.split()).casefold().encode()).hexdigest()[:10]


class UserRef(Wire):
    """One user of one company."""

    company_id: CompanyId
    user_id: Id


class MemoryPatchRequest(Wire):
    """A JSON merge patch (RFC 7396) by the user: lists are replaced whole, null forgets. BAD_FIELD names what is wrong.

    `superseded`, `since` and `updatedAt` cannot be patched. `over`: the version that the patch was made from;
    PRECONDITION_FAILED if it has changed since (read again); None: apply to any version. `request_id`: if the request
    is repeated because no answer came, it takes effect only once, whatever `over` says then.
    """

    company_id: CompanyId
    user_id: Id
    patch: dict[str, Any]
    over: str | None = Field(default=None, max_length=64)
    request_id: str | None = Field(default=None, max_length=128)
    body: str | None = Field(
        default=None,
        max_length=64,
        description="digest of what was sent under request_id; the same id with another one is a CONFLICT",
    )
    about: str | None = Field(
        default=None, max_length=500, description="what it forgets, in the user's words: search_memory leaves it out"
    )
    past: list[str] | None = Field(
        default=None, max_length=200, description="values of the history that are forgotten with it"
    )
    corrects: dict[str, str] | None = Field(
        default=None, max_length=20, description="facts, each with the words that take its place; it becomes history"
    )


class MemoryReply(Wire):
    """The memory as it is now. `version` names the state that was read; a patch does not return the version that it
    creates."""

    memory: LongTermMemory
    version: str | None = None


class MeantRequest(Wire):
    """Asks which remembered facts these words of the user refer to. `symbols`: the symbols named in the words."""

    company_id: CompanyId
    user_id: Id
    about: str = Field(min_length=1, max_length=500)
    symbols: list[str] = Field(default_factory=list[str], max_length=20)


class MeantReply(Wire):
    """The merge patch that takes out what is meant, over `version`, and its texts. `several`: those of which one may be
    meant, when it cannot be told which; then nothing is to be patched. `past`: values of the history that are meant;
    without a `patch`, what is so now stays."""

    version: str | None = None
    patch: dict[str, Any] = Field(default_factory=dict[str, Any])
    texts: list[str] = Field(default_factory=list[str])
    several: list[str] = Field(default_factory=list[str])
    past: list[str] = Field(default_factory=list[str])


class MemoryDeleteReply(Wire):
    """The user's memory has been deleted; the conversations stay (see user.forget). True if anything was remembered."""

    deleted: bool


class MemoryExportRequest(Wire):
    """A page of everything that is stored about the user."""

    company_id: CompanyId
    user_id: Id
    cursor: str | None = Field(default=None, max_length=512)


class ExportedConversation(Wire):
    """A conversation, or another part of one; messages oldest first."""

    conversation: ConversationView
    messages: list[MessageView]


class MemoryExportReply(Wire):
    """`memory` on the first page; `next` is None on the last. At most 512 KiB a page; a long conversation comes in
    several parts."""

    memory: LongTermMemory | None = None
    conversations: list[ExportedConversation]
    next: str | None = None


class UserForgotten(Wire):
    """The number of conversations that were deleted completely, from every store and stream."""

    conversations: int = Field(ge=0)


# ---------------------------------------------------------------- budgets

Tier = Annotated[Literal["main", "cheaper"], OPEN]
"""The budget that pays for a call: the one for the company's model, or the one for the cheaper model after it. Each has
its own limits."""


class FurtherCall(Wire):
    """A call that will probably follow in the turn: after tool calls the model is called again."""

    reservation_id: Id
    tokens: int = Field(ge=0, le=10_000_000)


class BudgetReserveRequest(Wire):
    """Asks whether a model call may use this many tokens.

    It may while less than the limit is used and reserved, so a limit is exceeded by at most one call. None means no
    limit. `payer` is the visitor or user (or the conversation of an anonymous one); None: only the company. A
    reservation that is not settled expires after `seconds`. `knowledge` is searched as well, whether the tokens are
    granted or not. `further` is reserved too if less than half of every limit would then be used and reserved, so that
    nobody is refused because of a call that may not happen.
    """

    company_id: CompanyId
    reservation_id: Id
    tokens: int = Field(ge=0, le=10_000_000)
    seconds: float = Field(gt=0, le=600)
    payer: str | None = Field(default=None, min_length=1, max_length=200)
    daily_tokens: int | None = Field(default=None, ge=0)
    hourly_tokens: int | None = Field(default=None, ge=0)
    tier: Tier = "main"
    knowledge: KnowledgeQuery | None = None
    further: FurtherCall | None = None


class BudgetReserveReply(Wire):
    """`spent` names the limit that is reached: the company's for today, or the visitor's for this hour (UTC).

    `reserved_at`, seconds since the epoch, is passed back to settle the call. `knowledge`: what was found; None: not
    searched. `further`: whether the call that may follow is reserved too.
    """

    granted: bool
    spent: Annotated[Literal["company", "visitor"], OPEN] | None = None
    reserved_at: int = Field(ge=0)
    knowledge: KnowledgeFound | None = None
    further: bool | None = None


class BudgetSettleRequest(Wire):
    """Replaces the `reserved` tokens by the real usage, after the call. A repeated request counts once."""

    company_id: CompanyId
    reservation_id: Id
    reserved: int = Field(ge=0)
    used: int = Field(ge=0)
    reserved_at: int = Field(ge=0)
    payer: str | None = Field(default=None, min_length=1, max_length=200)
    tier: Tier = "main"


class BudgetSettled(Wire):
    """`settled` is False if it had been settled before."""

    settled: bool


# Both may be repeated with the same reservationId: nothing is reserved or counted twice.
BUDGET_RESERVE = Rpc("rpc.memory.budget.reserve.v1", BudgetReserveRequest, BudgetReserveReply, queue=QUEUE)
BUDGET_SETTLE = Rpc("rpc.memory.budget.settle.v1", BudgetSettleRequest, BudgetSettled, queue=QUEUE)
USAGE = Rpc("rpc.memory.usage.v1", UsageRequest, UsageReply, queue=QUEUE)
MEMORY_GET = Rpc("rpc.memory.long_term.get.v1", UserRef, MemoryReply, queue=QUEUE)
MEMORY_MEANT = Rpc("rpc.memory.long_term.meant.v1", MeantRequest, MeantReply, queue=QUEUE)
MEMORY_PATCH = Rpc("rpc.memory.long_term.patch.v1", MemoryPatchRequest, MemoryReply, queue=QUEUE)
MEMORY_DELETE = Rpc("rpc.memory.long_term.delete.v1", UserRef, MemoryDeleteReply, queue=QUEUE)
MEMORY_EXPORT = Rpc("rpc.memory.export.v1", MemoryExportRequest, MemoryExportReply, queue=QUEUE)
# A repeat does no harm: a caller that got no answer calls again.
USER_FORGET = Rpc("rpc.memory.user.forget.v1", UserRef, UserForgotten, queue=QUEUE)
