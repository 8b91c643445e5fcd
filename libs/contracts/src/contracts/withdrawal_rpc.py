"""Responses deleted by their client. Memory marks them; the conversation stays the company's record."""

from typing import Annotated

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc

QUEUE = "memory"


class ResponseRef(Wire):
    """Names one response. `response`: the door's name for it within its conversation."""

    company_id: CompanyId
    conversation_id: Id
    response: Annotated[str, Field(pattern=r"^[A-Za-z0-9_.-]{1,100}$")]


class WithdrawRequest(ResponseRef):
    """The same `request_id` means the same deletion: a repeat gets the first reply again."""

    request_id: Id


class WithdrawReply(Wire):
    """`withdrawn` is False if it had been withdrawn before."""

    withdrawn: bool


class WithdrawnReply(Wire):
    """Whether the response has been withdrawn."""

    withdrawn: bool


WITHDRAW = Rpc("rpc.memory.response.withdraw.v1", WithdrawRequest, WithdrawReply, queue=QUEUE)
WITHDRAWN = Rpc("rpc.memory.response.withdrawn.v1", ResponseRef, WithdrawnReply, queue=QUEUE)
