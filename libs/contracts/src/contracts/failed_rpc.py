"""Turns that ended in a visible error, as the console lists them; agents serve them from FACTS."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

MAX_TURNS = 100
"""The maximum number of failed turns in one reply."""


class FailedTurnsRequest(Wire):
    """Asks for a company's failed turns before a position in FACTS (None: the newest)."""

    company_id: CompanyId
    limit: int = Field(default=50, ge=1, le=MAX_TURNS)
    before: int | None = Field(default=None, ge=1)


class FailedTurn(Wire):
    """A failed turn. `basis`: the sequence of the visitor message that it was to answer.

    `open`: that message is still the newest and unanswered, so it can be tried again.
    """

    turn_id: Id
    conversation_id: Id
    basis: int = Field(ge=0)
    code: str
    detail: str
    attempts: int = Field(ge=0)
    failed_at: datetime
    open: bool
    question: str | None = Field(default=None, description="what was asked, cut short; null: it is no longer stored")


class FailedTurnsReply(Wire):
    """The failed turns, newest first. The next page starts at `before`; None: there are no older ones."""

    items: list[FailedTurn]
    before: int | None = None


FAILED_TURNS = Rpc("rpc.agent.turns.failed.v1", FailedTurnsRequest, FailedTurnsReply, queue="agent")
