"""Identifying a company's user by a token that the company signed. Memory checks it, since keys do not leave memory."""

from datetime import datetime
from typing import Annotated, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import MAX_EMAIL, MAX_NAME
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc


class IdentifyRequest(Wire):
    """A JWT signed by the company."""

    company_id: CompanyId
    token: str = Field(max_length=8192)


class KnownUser(Wire):
    """The user in the token, and until when. The plan is at most the one that the settings allow. `key`: the mark
    of the company's key that signed it."""

    user_id: Id
    plan: Annotated[Literal["free", "pro", "premium"], OPEN]
    expires_at: datetime
    name: str | None = Field(default=None, max_length=MAX_NAME)
    email: str | None = Field(default=None, max_length=MAX_EMAIL)
    key: str | None = None


class IdentifyReply(Wire):
    """The user, or what is wrong with the token."""

    user: KnownUser | None = None
    problem: str | None = None


IDENTIFY = Rpc("rpc.memory.identity.verify.v1", IdentifyRequest, IdentifyReply, queue="memory")
