"""Whether a human agent is still there, and how far they have read. Memory keeps it; a conversation whose owner has
gone is not left with them.
"""

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Method, Rpc


class OwnerSeenRequest(Wire):
    """A human agent has just read or typed here; `upToSeq`: they have read all up to there."""

    company_id: CompanyId
    conversation_id: Id
    operator_id: Id
    up_to_seq: int | None = Field(default=None, ge=0)


class OwnerSeenReply(Wire):
    """It is noted."""


OWNER_SEEN = Rpc("rpc.memory.owner.seen.v1", OwnerSeenRequest, OwnerSeenReply, queue="memory")
METHODS: tuple[Method, ...] = (OWNER_SEEN,)
