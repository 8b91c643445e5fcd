"""For tests: a stand-in for memory's record of deleted responses."""

from dataclasses import dataclass, field

from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN, ResponseRef, WithdrawnReply, WithdrawReply, WithdrawRequest
from runtime.calls.rpc import RpcServer


@dataclass
class WithdrawalsStandIn:
    """Remembers which request deleted each response."""

    by: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])

    async def serve(self, server: RpcServer) -> None:
        """Starts answering."""
        await server.serve(WITHDRAW, self._withdraw)
        await server.serve(WITHDRAWN, self._withdrawn)

    async def _withdraw(self, request: WithdrawRequest) -> WithdrawReply:
        first_request_id = self.by.setdefault(_response_key(request), request.request_id)
        return WithdrawReply(withdrawn=first_request_id == request.request_id)

    async def _withdrawn(self, request: ResponseRef) -> WithdrawnReply:
        return WithdrawnReply(withdrawn=_response_key(request) in self.by)


def _response_key(request: ResponseRef) -> tuple[str, str, str]:
    return request.company_id, request.conversation_id, request.response
