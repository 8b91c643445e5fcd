"""Waits on the bus for the results of tools that the client runs (ports.ToolCalls)."""

import json

from agent.domain.client_tools import CATEGORY
from agent.domain.turn.journal import TurnCall
from agent.ports import ConversationKey, Requester, ToolCalls
from runtime.client_results import ClientResults
from runtime.errors import ReadFailedError

_NO_RESULT = json.dumps(
    {
        "success": False,
        "error": {"code": "TIMEOUT", "message": "The user's program has given no result: answer without it."},
    }
)


class ClientCalls:
    """Waits for the results of the client's own tools; every other call goes to `executor_calls`."""

    def __init__(self, executor_calls: ToolCalls, results: ClientResults) -> None:
        self._executor_calls = executor_calls
        self._results = results

    async def outcome(
        self, key: ConversationKey, call: TurnCall, category: str, requester: Requester, turn_id: str, seconds: float
    ) -> str:
        """Returns the result as JSON text, even of a failed call."""
        if category != CATEGORY:
            return await self._executor_calls.outcome(key, call, category, requester, turn_id, seconds)
        try:
            result = await self._results.wait(key.company, key.conversation, call.call_id, seconds)
        except ReadFailedError:
            result = None
        return _NO_RESULT if result is None else json.dumps(result, ensure_ascii=False)
