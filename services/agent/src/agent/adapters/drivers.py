"""Asks all agents at once who drives a turn, since only the driver knows."""

from collections.abc import Callable

from agent.ports import ConversationKey
from contracts.agent_rpc import TURN_STATE, TurnStateRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

DEADLINE = 0.5
"""Seconds to wait for the driver's word; a dead one says nothing. On a machine that stood still as a whole, the driver
needs a moment to come back, and its turn would be paid for again."""


class AgentDrivers:
    """`mine`: whether this very agent drives the turn."""

    def __init__(self, rpc: RpcClient, mine: Callable[[ConversationKey, str], bool]) -> None:
        self._rpc = rpc
        self._mine = mine

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        """Whether some agent says that it drives the turn."""
        if self._mine(key, turn_id):
            return True
        request = TurnStateRequest(company_id=key.company, conversation_id=key.conversation, turn_id=turn_id)
        try:
            state = await self._rpc.ask_all(TURN_STATE, request, deadline=DEADLINE)
        except RpcError:
            return False
        return state is not None and state.turn_id == turn_id
