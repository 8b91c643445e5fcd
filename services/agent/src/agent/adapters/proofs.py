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
"""Seconds for memory's answer, which first learns from the turn by its rules. Nothing waits for it."""


class MemoryProofs:
    """Asks memory which messages proposals may be based on, and which proposals count."""

    def __init__(self, rpc: RpcClient) -> None:
        self._rpc = rpc

    async def ground(self, turn: AnsweredTurn) -> ProposalGround:
        """Returns the messages that proposals may be based on; raises RpcError."""
        return await self._rpc.call(PROPOSAL_GROUND, turn, deadline=DEADLINE)

    async def judge(self, turn: AnsweredTurn, proposals: list[FactProposal]) -> ProposalsJudged:
        """Returns the proposals that count; raises RpcError."""
        request = ProposalsRequest(**dict(turn), proposals=proposals)
        return await self._rpc.call(PROPOSE, request, deadline=DEADLINE)
