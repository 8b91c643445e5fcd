"""The collection `executions`: the outcome of every tool call, once for each company, user and call.

{_id: company/user/call, key: company/time/call, talkKey: company/conversation/time/call, tool, userId, conversationId,
turnId, success, code, cached, executionTime (ms), at, symbols (named by the arguments), call (the event's data as JSON
text)}. `talkKey` and `symbols` are those of successful calls in a conversation.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import cast

from pymongo import DESCENDING

from contracts.events.tool import ToolCallCompleted
from contracts.ids import NOBODY
from contracts.symbols import InvalidSymbolError, parse_symbol
from memory.adapters.mongo import keys_under, store_errors
from memory.domain.keys import conversation_key, milliseconds, timed_key
from runtime.stores.mongo import Collection, Document

SYMBOL_ARGUMENTS = ("symbol", "symbols", "ticker", "tickers")
MAX_SYMBOLS = 10


@dataclass(frozen=True, slots=True)
class PastToolCall:
    """A tool call of a conversation, and the symbols that its arguments name."""

    at: datetime
    tool: str
    symbols: tuple[str, ...]


class MongoExecutions:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def add(self, company: str, event_id: str, time: datetime, call: ToolCallCompleted) -> None:
        """Stores one outcome, once for each company, user and call."""
        result = call.result
        user = call.user_id or NOBODY
        row: Document = {
            "key": timed_key(company, milliseconds(time), call.call_id),
            "eventId": event_id,
            "tool": call.tool,
            "userId": call.user_id,
            "conversationId": call.conversation_id,
            "turnId": call.turn_id,
            "success": result.success,
            "code": result.error.code if result.error else None,
            "cached": result.metadata.cached,
            "executionTime": result.metadata.execution_time,
            "at": time.isoformat(),
            "call": call.to_json().decode(),
        }
        if call.conversation_id and result.success:
            key = conversation_key(company, call.conversation_id)
            row["talkKey"] = timed_key(key, milliseconds(time), call.call_id)
            row["symbols"] = _symbols(call.arguments)
        async with store_errors("store a tool call"):
            await self._rows.update_one({"_id": f"{company}/{user}/{call.call_id}"}, {"$setOnInsert": row}, upsert=True)

    async def newest(self, company: str, conversation: str, limit: int) -> list[PastToolCall]:
        """The newest successful calls; raises StoreUnavailableError."""
        key = conversation_key(company, conversation)
        query = {"talkKey": keys_under(key)}
        async with store_errors("read tool calls"):
            cursor = self._rows.find(query, {"at": 1, "tool": 1, "symbols": 1}).sort("talkKey", DESCENDING).limit(limit)
            rows = await cursor.to_list()
        return [PastToolCall(datetime.fromisoformat(row["at"]), row["tool"], tuple(row["symbols"])) for row in rows]


def _symbols(arguments: Mapping[str, object]) -> list[str]:
    names: dict[str, None] = {}
    for name in SYMBOL_ARGUMENTS:
        value: object = arguments.get(name)
        texts = cast("list[object]", value) if isinstance(value, list) else [value]
        for text in texts[:MAX_SYMBOLS]:
            try:
                names[parse_symbol(text).name if isinstance(text, str) else ""] = None
            except InvalidSymbolError:
                continue
    names.pop("", None)
    return list(names)[:MAX_SYMBOLS]
