"""Asks all agents at once whether they drive a turn, because only its driver knows."""

from collections.abc import Callable

from agent.ports import ConversationKey
from contracts.agent_rpc import TURN_STATE, TurnStateRequest
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError

DEADLINE = 0.5
"""Seconds to wait for the driver's answer; a dead driver sends none. It is not shorter because, on a machine that stood
still as a whole, the driver needs a moment to come back, and otherwise its turn would be paid for twice."""


class AgentDrivers:
    """`drives_here`: whether this agent itself drives the turn."""

    def __init__(self, rpc: RpcClient, drives_here: Callable[[ConversationKey, str], bool]) -> None:
        self._rpc = rpc
        self._drives_here = drives_here

    async def drives(self, key: ConversationKey, turn_id: str) -> bool:
        """Whether any agent says that it drives the turn."""
        if self._drives_here(key, turn_id):
            return True
        request = TurnStateRequest(company_id=key.company, conversation_id=key.conversation, turn_id=turn_id)
        try:
            state = await self._rpc.ask_all(TURN_STATE, request, deadline=DEADLINE)
        except RpcError:
            return False
        return state is not None and state.turn_id == turn_id
