"""The method by which the gateway reports that a human agent is still there, and how far they have read."""

from contracts.owner_rpc import OWNER_SEEN, OwnerSeenReply, OwnerSeenRequest
from memory.adapters.redis_looks import RedisLooks
from memory.ports import LogClock
from runtime.service import Service


def serve(service: Service, looks: RedisLooks, clock: LogClock) -> None:

    async def seen(request: OwnerSeenRequest) -> OwnerSeenReply:
        at = await clock()
        await looks.note(request.company_id, request.conversation_id, request.operator_id, at, request.up_to_seq)
        return OwnerSeenReply()

    service.serve(OWNER_SEEN, seen)
