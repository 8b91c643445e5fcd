"""Actions of people on a conversation besides writing in it. These facts (stream FACTS) never veto an answer."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import MAX_TEXT
from contracts.ids import CompanyId, Id

MAX_LABELS = 20
Label = Annotated[str, Field(min_length=1, max_length=40)]
Topic = Annotated[str, Field(max_length=200)]
Reason = Annotated[Literal["confirmed", "silence", "woke", "in_turn", "left"], OPEN]
Status = Annotated[Literal["open", "resolved", "snoozed"], OPEN]


class ConversationUpdated(Wire):
    """A conversation was resolved, snoozed, assigned, labelled or named; fields left out do not change.

    `basis`: the newest fact of the conversation that its author knew. A visitor's message after it reopens a resolved
    or snoozed conversation; without `basis`, one that came later in time does. An empty `assignee` means nobody, an
    empty `topic` none. `by`: a user id, or the service that did it.
    """

    company_id: CompanyId
    conversation_id: Id
    state: Status | None = None
    snoozed_until: datetime | None = Field(default=None, description="null: until the next message")
    assignee: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")] | None = None
    assignee_name: str | None = Field(default=None, max_length=200)
    labels: list[Label] | None = Field(default=None, max_length=MAX_LABELS, description="all of them")
    topic: Topic | None = None
    person: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{0,64}$")] | None = Field(
        default=None, description="the customer that the visitor has turned out to be; empty: none"
    )
    person_name: str | None = Field(default=None, max_length=200, description="that customer's, if it is known")
    previous: Id | None = Field(default=None, description="the same person's conversation before this one")
    basis: int | None = Field(default=None, ge=0)
    by: str = Field(min_length=1, max_length=64)
    name: str | None = Field(default=None, max_length=200, description="theirs, as people see it")
    reason: Reason | None = Field(
        default=None,
        description="of a service: the visitor said that this was all, nobody wrote, its time or their turn has come,"
        " its assignee has left the team",
    )


class NoteAdded(Wire):
    """A private note, which only human agents read, never the visitor or a model. `mentions`: the @names in it."""

    company_id: CompanyId
    conversation_id: Id
    note_id: Id
    text: str = Field(min_length=1, max_length=MAX_TEXT)
    mentions: list[str] = Field(default_factory=list[str], max_length=50)
    by: str = Field(min_length=1, max_length=64)
    name: str | None = Field(default=None, max_length=200)
