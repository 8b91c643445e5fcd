"""Whether a human agent is still there, and how far they have read; kept by memory, which takes a conversation back
from an owner who has left."""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc


class OwnerSeenRequest(Wire):
    """A human agent has just read or typed here; `upToSeq`: they have read everything up to there."""

    company_id: CompanyId
    conversation_id: Id
    operator_id: Id
    up_to_seq: int | None = Field(default=None, ge=0)


class OwnerSeenReply(Wire):
    """It was recorded."""


OWNER_SEEN = Rpc("rpc.memory.owner.seen.v1", OwnerSeenRequest, OwnerSeenReply, queue="memory")
