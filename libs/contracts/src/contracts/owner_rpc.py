"""Whether a human agent is still there. Memory keeps it; a conversation whose owner has gone is not left with them."""

from typing import Any

from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.rpc import Rpc


class OwnerSeenRequest(Wire):
    """A human agent has just read or typed here."""

    company_id: CompanyId
    conversation_id: Id
    operator_id: Id


class OwnerSeenReply(Wire):
    """It is noted."""


OWNER_SEEN = Rpc("rpc.memory.owner.seen.v1", OwnerSeenRequest, OwnerSeenReply, queue="memory")
METHODS: tuple[Rpc[Any, Any], ...] = (OWNER_SEEN,)
