"""Waits on the bus for the results of tools that the client runs (ports.ToolCalls)."""

import json

from agent.domain.client_tools import CATEGORY
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester, ToolCalls
from runtime.client_results import ClientResults
from runtime.errors import ReadFailedError

_NOTHING = json.dumps(
    {
        "success": False,
        "error": {"code": "TIMEOUT", "message": "The user's program has given no result: answer without it."},
    }
)


class ClientCalls:
    """Waits for the results of the client's own tools; every other call goes to `others`."""

    def __init__(self, others: ToolCalls, results: ClientResults) -> None:
        self._others = others
        self._results = results

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """The result as JSON text, whatever happens."""
        if category != CATEGORY:
            return await self._others.outcome(key, call, category, requester, turn_id, seconds)
        try:
            given = await self._results.awaited(key.company, key.conversation, call.call_id, seconds)
        except ReadFailedError:
            given = None
        return _NOTHING if given is None else json.dumps(given, ensure_ascii=False)
