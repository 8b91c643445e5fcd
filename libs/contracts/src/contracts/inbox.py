"""Lines that human agents see in a conversation besides its messages: the visitor, hand-overs, changes of owner."""

from datetime import datetime

from pydantic import Field

from contracts.envelope import Wire
from contracts.events.chat import Owner, Page
from contracts.ids import Id


class OwnerEvent(Wire):
    """A change of owner in the thread: taken over, given back, or a person asked for. `name`: the name of the person
    who did it."""

    id: Id
    seq: int
    owner: Owner
    by: str
    name: str | None = None
    reason: str | None = None
    opens_at: datetime | None = Field(default=None, description="outside office hours: when somebody is there")
    created_at: datetime


class VisitorView(Wire):
    """The visitor, in the inbox."""

    id: str
    page: Page | None = None
    visits: int = 1
    pages: list[Page] | None = None
    name: str | None = None
    email: str | None = None
    was: str | None = Field(default=None, description="the visitor that this customer has turned out to be")
    signed_in: bool | None = Field(
        default=None, description="that visitor has signed in as this customer, who may read what they wrote before"
    )
    plan: str | None = Field(default=None, description="a customer's; null: a visitor who has not signed in")


class HandOver(Wire):
    """Why a person was last asked for, and what they should know: the AI's words when it handed over."""

    at: datetime
    by: str
    reason: str | None = None
    opens_at: datetime | None = Field(default=None, description="a message was taken outside office hours")
    summary: list[str] | None = None
    language: str | None = None
