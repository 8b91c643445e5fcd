"""Calls to the agents over the bus."""

import structlog

from contracts.agent_rpc import TURN_STATE, TurnState, TurnStateRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

DEADLINE = 0.25
"""Short, since only the driving agent answers: without one nobody does, and hello waits for it."""


class BusAgents:
    """Asks all agents at once; the one that drives the conversation's turn answers."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def turn_state(self, company: str, conversation: str) -> TurnState | None:
        """The running turn with its text so far; None if no agent drives one (or says so in time)."""
        request = TurnStateRequest(company_id=company, conversation_id=conversation)
        try:
            return await self._client.ask_all(TURN_STATE, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("chat.turn_state_failed", code=error.code)
            return None
