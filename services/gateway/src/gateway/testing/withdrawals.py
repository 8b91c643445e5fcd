"""For tests: memory's word on which responses were deleted."""

from dataclasses import dataclass, field

from contracts.withdrawal_rpc import WITHDRAW, WITHDRAWN, ResponseRef, WithdrawnReply, WithdrawReply, WithdrawRequest
from runtime.calls.rpc import RpcServer


@dataclass
class WithdrawalsStandIn:
    """Keeps them while the test runs."""

    by: dict[tuple[str, str, str], str] = field(default_factory=dict[tuple[str, str, str], str])

    async def serve(self, server: RpcServer) -> None:
        """Answers from now on."""
        await server.serve(WITHDRAW, self._withdraw)
        await server.serve(WITHDRAWN, self._withdrawn)

    async def _withdraw(self, request: WithdrawRequest) -> WithdrawReply:
        by = self.by.setdefault(_name(request), request.request_id)
        return WithdrawReply(withdrawn=by == request.request_id)

    async def _withdrawn(self, request: ResponseRef) -> WithdrawnReply:
        return WithdrawnReply(withdrawn=_name(request) in self.by)


def _name(request: ResponseRef) -> tuple[str, str, str]:
    return request.company_id, request.conversation_id, request.response
