"""The collection `executions`: the outcome of every tool call, once for each company, user and call.

{_id: company/user/call, key: company/time/call, tool, userId, conversationId, turnId, success, code, cached,
executionTime (ms), at, call (the event's data as JSON text)}.
"""

from datetime import datetime

from contracts.events.tool import ToolCallCompleted
from contracts.ids import NOBODY
from memory.adapters.mongo import Collection, speaking
from memory.domain.keys import timed_key


class MongoExecutions:
    """ExecutionStore."""

    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def add(self, company: str, event_id: str, at: datetime, call: ToolCallCompleted) -> None:
        result = call.result
        user = call.user_id or NOBODY
        row = {
            "key": timed_key(company, int(at.timestamp() * 1000), call.call_id),
            "eventId": event_id,
            "tool": call.tool,
            "userId": call.user_id,
            "conversationId": call.conversation_id,
            "turnId": call.turn_id,
            "success": result.success,
            "code": result.error.code if result.error else None,
            "cached": result.metadata.cached,
            "executionTime": result.metadata.execution_time,
            "at": at.isoformat(),
            "call": call.to_json().decode(),
        }
        async with speaking("store a tool call"):
            await self._rows.update_one({"_id": f"{company}/{user}/{call.call_id}"}, {"$setOnInsert": row}, upsert=True)
