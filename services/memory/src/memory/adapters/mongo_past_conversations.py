"""Messages for search, from the collections `conversations` and `facts` (see mongo_conversations and mongo_facts).

Thousands of messages are read here, so only the needed fields of an event are parsed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from pymongo import ASCENDING

from contracts.channels import ChatKind
from memory.adapters.mongo import began_by, store_errors
from memory.domain.keys import END, LogPosition, conversation_key, fact_key, position_of
from memory.domain.recall.index import IndexedMessage
from runtime.stores.mongo import Collection, Document

SPEAKERS = {
    ChatKind.VISITOR.value: "user",
    ChatKind.ASSISTANT.value: "assistant",
    ChatKind.OPERATOR.value: "operator",
}
"""Kinds of messages that a person or the assistant writes; notices are left out."""


@dataclass(frozen=True, slots=True)
class PastConversation:
    """A person's conversation, and the position of its newest fact."""

    conversation: str
    latest: LogPosition


@dataclass(frozen=True, slots=True)
class ConversationPage:
    """One page of a conversation. `up_to` is the position of its last message; None if there are no more pages."""

    passages: Sequence[IndexedMessage]
    up_to: LogPosition | None


class MongoPastConversations:
    def __init__(self, conversations: Collection, facts: Collection) -> None:
        self._conversations = conversations
        self._facts = facts

    async def newest(self, company: str, user: str, limit: int) -> list[PastConversation]:
        """The conversations that the person began themselves, latest activity first, without those of people merged
        with them."""
        prefix = f"{company}:{user}"
        async with store_errors("read a person's conversations"):
            keys = await began_by(self._conversations, prefix, limit)
        return [_conversation(key.removeprefix(f"{prefix}/")) for key in keys]

    async def messages_since(self, company: str, conversation: str, since: LogPosition, limit: int) -> ConversationPage:
        """The messages of people and the assistant after `since`, oldest first."""
        end = f"{conversation_key(company, conversation)}/{END}"
        query = {"messageKey": {"$gt": fact_key(company, conversation, since), "$lt": end}}
        async with store_errors("read messages"):
            cursor = self._facts.find(query, {"messageKey": 1, "kind": 1, "event": 1})
            rows = await cursor.sort("messageKey", ASCENDING).limit(limit).to_list()
        passages = [_passage(row, conversation) for row in rows if row["kind"] in SPEAKERS]
        return ConversationPage(passages, position_of(rows[-1]["messageKey"]) if rows else None)


def _conversation(key: str) -> PastConversation:
    latest, _, conversation = key.rpartition("/")
    return PastConversation(conversation, position_of(latest))


def _passage(row: Document, conversation: str) -> IndexedMessage:
    event: dict[str, Any] = orjson.loads(row["event"])
    return IndexedMessage(
        id=event["data"]["messageId"],
        conversation=conversation,
        order=position_of(row["messageKey"]),
        speaker=SPEAKERS[row["kind"]],
        text=event["data"]["text"],
        at=datetime.fromisoformat(event["time"]),
    )
