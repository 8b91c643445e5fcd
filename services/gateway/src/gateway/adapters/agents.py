"""Calls to the agents over the bus."""

import structlog

from contracts.agent_rpc import SUMMARY, TURN_STATE, SummaryRequest, TurnState, TurnStateRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

log = structlog.get_logger(__name__)

TURN_STATE_SECONDS = 0.25
"""Deadline of `turn_state`: short, since only the driving agent answers, and hello waits for it in vain without one."""
SUMMARY_SECONDS = 1.0
"""Deadline of `summary`: a person is asked for without a summary rather than late."""


class BusAgents:
    """The agents behind their RPC methods."""

    def __init__(self, client: RpcClient) -> None:
        self._client = client

    async def turn_state(self, company: str, conversation: str) -> TurnState | None:
        """The running turn with its text so far; None if no agent drives one, or none answers in time. All agents are
        asked at once."""
        request = TurnStateRequest(company_id=company, conversation_id=conversation)
        try:
            return await self._client.ask_all(TURN_STATE, request, deadline=TURN_STATE_SECONDS)
        except RpcError as error:
            log.warning("chat.turn_state_failed", code=error.code)
            return None

    async def summary(self, company: str, conversation: str, locale: str | None) -> list[str] | None:
        """A summary for the person who takes the conversation over; None if it is empty or no agent answers."""
        request = SummaryRequest(company_id=company, conversation_id=conversation, locale=locale)
        try:
            return (await self._client.call(SUMMARY, request, deadline=SUMMARY_SECONDS)).summary
        except RpcError as error:
            log.info("chat.no_summary", code=error.code)
            return None
