"""What was said: from memory, and when memory does not answer from the log itself."""

from collections.abc import Mapping
from typing import Any, cast

import orjson
import structlog

from agent.errors import UnreachableError
from agent.ports import History, Key, Spoken
from contracts.channels import ChatKind, parse_chat
from contracts.events.chat import Role
from contracts.rpc import HISTORY, HistoryRequest
from runtime.conversation_log import ConversationLog
from runtime.direct import StoredFact
from runtime.errors import ReadFailed, RpcError
from runtime.rpc import RpcClient

log = structlog.get_logger(__name__)

MESSAGES = 20
"""How many messages the prompt's fifth layer holds."""
DEADLINE = 2.0
"""Seconds for memory's answer; then the log is read."""
TAIL = 20_000
"""How far behind the stream's end the log may be read; farther it scans and hurts everybody."""
_MINE = {Role.ASSISTANT: True, Role.OPERATOR: True, Role.VISITOR: False, Role.USER: False}
_SPOKEN = {ChatKind.VISITOR: False, ChatKind.ASSISTANT: True, ChatKind.OPERATOR: True}


class Histories:
    """The last messages up to a sequence, none missing."""

    def __init__(self, rpc: RpcClient, chat: ConversationLog) -> None:
        self._rpc = rpc
        self._chat = chat

    async def up_to(self, key: Key, seq: int) -> History:
        """The newest messages with sequence ≤ seq; raises UnreachableError when neither memory nor the log answers."""
        request = HistoryRequest(
            company_id=key.company, conversation_id=key.conversation, up_to_seq=seq, limit=MESSAGES
        )
        try:
            reply = await self._rpc.call(HISTORY, request, deadline=DEADLINE)
        except RpcError as error:
            log.warning("history.from_log", conversation=key.conversation, reason=error.code)
            return await self._from_log(key, seq)
        visitor = reply.visitor
        return History(
            messages=tuple(
                Spoken(_MINE[message.role], message.text, message.seq)
                for message in reply.messages
                if message.role in _MINE
            ),
            visits=visitor.visits,
            page_url=visitor.page.url if visitor.page else None,
            page_title=visitor.page.title if visitor.page else None,
            funnel_stage=visitor.funnel_stage,
        )

    async def _from_log(self, key: Key, seq: int) -> History:
        try:
            facts = await self._chat.read(*key, max(seq - TAIL, 0), seq)
        except ReadFailed as error:
            raise UnreachableError(f"neither memory nor the log tells what was said: {error}") from error
        spoken = [said for fact in facts if (said := _spoken(fact)) is not None]
        return History(messages=tuple(spoken[-MESSAGES:]))


def _spoken(fact: StoredFact) -> Spoken | None:
    address = parse_chat(fact.subject)
    mine = None if address is None else _SPOKEN.get(address.kind)
    if mine is None:
        return None
    try:
        data = cast("Mapping[str, Any]", orjson.loads(fact.event)["data"])
        return Spoken(mine, str(data["text"]), fact.seq)
    except (orjson.JSONDecodeError, KeyError, TypeError):
        return None
