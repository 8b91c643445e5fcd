"""Facts outside the conversation's log (stream FACTS): subjects end in ``.<company>.<user or ->``."""

from typing import Literal

from pydantic import Field

from contracts.company import CompanySettings
from contracts.envelope import Wire
from contracts.events.chat import Usage
from contracts.ids import CompanyId, Id


class CompanyConfigChanged(CompanySettings):
    """The settings as they are from now on, whole: a reader needs nothing else. Secrets of webhooks are left out."""


class FeedbackGiven(Wire):
    """Somebody rated an answer."""

    company_id: CompanyId
    conversation_id: Id
    message_id: Id
    user_id: str
    rating: Literal["up", "down"]
    reason: str | None = Field(default=None, max_length=1000)


class UsageRecorded(Wire):
    """Tokens that one turn used."""

    company_id: CompanyId
    conversation_id: Id | None = None
    user_id: str | None = None
    turn_id: Id | None = None
    provider: str
    model: str
    usage: Usage
