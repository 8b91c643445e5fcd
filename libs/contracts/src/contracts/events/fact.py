"""Facts outside a conversation's log (stream FACTS): subjects end in ``.<company>.<user or ->``."""

from datetime import date as Date  # noqa: N812 - as in memory_rpc
from typing import Annotated, Literal

from pydantic import Field

from contracts.company import CompanySettings
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Usage
from contracts.ids import CompanyId, Id


class CompanyConfigChanged(CompanySettings):
    """A company's complete settings from now on, so that readers need nothing else. Secrets of webhooks are left
    out."""


class FeedbackGiven(Wire):
    """Somebody rated an answer."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id
    user_id: str
    rating: Annotated[Literal["up", "down"], OPEN]
    reason: str | None = Field(default=None, max_length=1000)


Score = Annotated[int, Field(ge=1, le=5, description="5 is the best")]


class ConversationRated(Wire):
    """Somebody says whether their conversation helped; a later rating replaces an earlier one."""

    company_id: CompanyId
    conversation_id: Id
    user_id: str
    score: Score
    comment: str | None = Field(default=None, max_length=1000)


class UsageReservation(Wire):
    """The budget reservation of a model call (rpc.memory.budget.reserve.v1), as granted."""

    id: Id
    tokens: int = Field(ge=0)
    at: int = Field(ge=0, description="seconds since the epoch")
    payer: str | None = Field(default=None, min_length=1, max_length=200)
    tier: Annotated[Literal["main", "cheaper"], OPEN] = "main"


class UsageRecorded(Wire):
    """Tokens used by one model call, or by several of a turn. The built-in assistant uses none, but its turns are
    counted too.

    `cost` in `currency` by the price list of the day `priced_on`; None: the list has no price for the model.
    `estimated`: the provider did not count, or the call broke off before it had. `reservation`: the reservation that
    this settles, if it has not been settled yet; `further`: reservations of other calls, which are released.
    """

    company_id: CompanyId
    conversation_id: Id | None = None
    user_id: str | None = None
    turn_id: Id | None = None
    provider: str
    model: str
    usage: Usage
    purpose: Annotated[Literal["turn", "suggest", "improve"], OPEN] | None = None
    door: str | None = Field(default=None, max_length=32, description="by which protocol the message came")
    cost: float | None = Field(default=None, ge=0)
    currency: str | None = None
    priced_on: Date | None = None
    estimated: bool | None = None
    reservation: UsageReservation | None = None
    further: list[UsageReservation] | None = None
