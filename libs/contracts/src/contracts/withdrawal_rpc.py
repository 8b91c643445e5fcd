"""Responses that their client has deleted. Memory keeps the mark; the conversation stays the company's record."""

from typing import Annotated

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Method, Rpc

QUEUE = "memory"


class ResponseRef(Wire):
    """`response`: what the door calls it, within its conversation."""

    company_id: CompanyId
    conversation_id: Id
    response: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


class WithdrawRequest(ResponseRef):
    """Under the same `request_id` it is the same deletion: a repeat hears what the first one heard."""

    request_id: Id


class WithdrawReply(Wire):
    """False: it had been withdrawn before."""

    withdrawn: bool


class WithdrawnReply(Wire):
    """Whether it has been withdrawn."""

    withdrawn: bool


WITHDRAW = Rpc("rpc.memory.response.withdraw.v1", WithdrawRequest, WithdrawReply, queue=QUEUE)
WITHDRAWN = Rpc("rpc.memory.response.withdrawn.v1", ResponseRef, WithdrawnReply, queue=QUEUE)

METHODS: tuple[Method, ...] = (WITHDRAW, WITHDRAWN)
