"""Daily figures about a company's assistant: hand-offs, failures and ratings of answers."""

from datetime import date as Date  # noqa: N812 - the field is called date
from datetime import datetime

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"


class InsightsRequest(Wire):
    """Asks for the days `since` to `until` (UTC), both included."""

    company_id: CompanyId
    since: Date
    until: Date


class InsightsDay(Wire):
    """One day (UTC): the conversations begun on it and their outcome since, and the ratings given on it."""

    date: Date
    conversations: int = Field(ge=0)
    answers: int = Field(ge=0, description="by the assistant")
    handed_off: int = Field(ge=0, description="conversations in which a person was asked for or took over")
    failed: int = Field(ge=0, description="conversations with a turn that ended in an error")
    thumbs_up: int = Field(ge=0)
    thumbs_down: int = Field(ge=0)


class Complaint(Wire):
    """An answer that somebody rated as bad."""

    conversation_id: Id
    message_id: Id
    reason: str | None = None
    given_at: datetime


class InsightsReply(Wire):
    """Oldest day first, without empty days; the newest complaints first, at most 50.

    `complete` is false if there were more conversations than are counted for one reply (20,000).
    """

    days: list[InsightsDay]
    complaints: list[Complaint]
    complete: bool = True


INSIGHTS = Rpc("rpc.memory.insights.v1", InsightsRequest, InsightsReply, queue=QUEUE)
