"""Has memory check proposals against the user's own words."""

from contracts.proposal_rpc import (
    PROPOSAL_GROUND,
    PROPOSE,
    AnsweredTurn,
    FactProposal,
    ProposalGround,
    ProposalsJudged,
    ProposalsRequest,
)
from runtime.calls.rpc import RpcClient

DEADLINE = 8.0
"""Seconds: memory learns the turn by its rules first. Nobody waits for it."""


class MemoryProofs:
    """What proposals may be based on, and which of them count."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """What proposals may be based on; raises RpcError."""
        return await self._rpc.call(PROPOSAL_GROUND, turn, deadline=DEADLINE)

    async def judge(self, turn: AnsweredTurn, proposals: list[FactProposal]) -> ProposalsJudged:
        """Which of them count; raises RpcError."""
        request = ProposalsRequest(**dict(turn), proposals=proposals)
        return await self._rpc.call(PROPOSE, request, deadline=DEADLINE)
