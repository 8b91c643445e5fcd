"""Reports: a company's conversations counted by day, and visitors' ratings."""

from datetime import date as Date  # noqa: N812 - the names of the wire are from and to
from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.conversation_rpc import ConversationRef
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.fact import Score
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"
By = Literal["day", "channel", "language", "user", "door"]
Count = Annotated[int, Field(ge=0)]


class ReportFigures(Wire):
    """The outcome of some conversations. Seconds are medians; null: nothing to measure.

    `answered_by_ai`: answered, and no person was asked for, took over or wrote. `resolved_by_ai`: of those, the ones
    with nothing open, and whose visitor said that this was all or has written nothing for 24 hours. `handed_over`: a
    person was asked for or took over.
    """

    conversations: Count
    answered_by_ai: Count
    resolved_by_ai: Count
    handed_over: Count
    first_answer_seconds: float | None = Field(default=None, description="from the first message to the first answer")
    to_person_seconds: float | None = Field(default=None, description="from asking for a person to one who takes over")
    rated: Count
    csat: float | None = Field(default=None, description="the mean of the scores, 1 to 5")
    cost: float = Field(ge=0)
    cost_per_conversation: float | None = None
    cost_per_resolution: float | None = None
    unpriced: Count = Field(description="model calls for which there was no price")
    prompt_tokens: Count
    completion_tokens: Count
    tools: Count = Field(description="calls of tools")
    gaps: Count = Field(description="questions to which the AI knew no answer")


class ReportRow(ReportFigures):
    """The conversations of one group."""

    key: str


class ReportRequest(Wire):
    """Conversations begun on the days `since` to `until` in the company's time zone, both included."""

    company_id: CompanyId
    since: Date
    until: Date
    by: Annotated[By, OPEN] = "day"


class ReportReply(Wire):
    """`rows` sorted by their keys, days oldest first; beyond 1,000 rows the rest is in the row `other`.

    `complete` false: not all conversations are counted; ask again later, or for fewer days.
    """

    rows: list[ReportRow]
    total: ReportFigures
    currency: str = "USD"
    complete: bool = True


Figure = Literal[
    "conversations", "answeredByAi", "resolvedByAi", "handedOver", "rated", "firstAnswerSeconds", "toPersonSeconds",
    "cost", "tools", "gaps",
]  # fmt: skip


class ReportOpenRequest(ReportRequest):
    """Asks for the conversations behind a figure, of one row or (no key) of all."""

    key: str | None = Field(default=None, max_length=200)
    figure: Annotated[Figure, OPEN] = "conversations"


class ReportOpenReply(Wire):
    """The conversations, newest first, at most 1,000."""

    conversation_ids: list[Id]
    complete: bool = True


class RatingView(Wire):
    """A rating of a conversation."""

    score: Score
    comment: str | None = None
    rated_at: datetime


class RatingReply(Wire):
    """The rating; None if nobody has rated the conversation."""

    rating: RatingView | None = None


REPORT = Rpc("rpc.memory.report.v1", ReportRequest, ReportReply, queue=QUEUE)
REPORT_OPEN = Rpc("rpc.memory.report.open.v1", ReportOpenRequest, ReportOpenReply, queue=QUEUE)
RATING = Rpc("rpc.memory.rating.v1", ConversationRef, RatingReply, queue=QUEUE)
