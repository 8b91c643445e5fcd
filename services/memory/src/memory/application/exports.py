"""Exports everything stored about a user, page by page."""

import base64
import binascii
from dataclasses import dataclass

import orjson

from contracts.conversation_rpc import MessageView
from contracts.memory_rpc import ExportedConversation, MemoryExportReply, MemoryExportRequest
from memory.adapters.mongo_conversations import MongoConversations
from memory.application.inbox import Inbox, conversation_view
from memory.application.memories import Memories
from memory.domain.keys import BadCursorError
from memory.ports import InboxFilter

PAGE_BYTES = 400_000
"""Bytes of conversations in one page; under 512 KiB with the memory. A single message has 256 KiB at most."""
CONVERSATION_BYTES = 1_500
"""Bytes of a conversation's own view, without messages."""
MESSAGES = 10


@dataclass(frozen=True, slots=True)
class ExportCursor:
    """The place where a page begins: first come the messages after `messages` of `conversation`, if that is given, then
    the list's conversations after `after`, unless the list has ended."""

    after: str | None = None
    ended: bool = False
    conversation: str | None = None
    messages: str | None = None


class Exports:
    """Pages of an export."""

    def __init__(self, *, memories: Memories, conversations: MongoConversations, inbox: Inbox) -> None:
        self._memories = memories
        self._conversations = conversations
        self._inbox = inbox

    async def page(self, asked: MemoryExportRequest) -> MemoryExportReply:
        """Returns one page of the export; the first one contains the memory.

        Raises:
            BadCursorError, StoreUnavailableError.
        """
        company, user, cursor = asked.company_id, asked.user_id, asked.cursor
        place = _place(cursor) if cursor else ExportCursor()
        await self._inbox.fresh()
        memory = None if cursor else await self._memories.get(company, user)
        parts: list[ExportedConversation] = []
        room = PAGE_BYTES
        while (place := await self._next(company, user, place)) is not None:
            part, place, used = await self._part(company, user, place, room, first=not parts)
            parts.extend([part] if part is not None else [])
            room -= used
            if place.conversation is not None:
                break  # it did not fit
        return MemoryExportReply(memory=memory, conversations=parts, next=_cursor(place) if place else None)

    async def _next(self, company: str, user: str, place: ExportCursor) -> ExportCursor | None:
        """The cursor itself if it is at a conversation, or the next one in the list; None: there is none."""
        if place.conversation is not None:
            return place
        if place.ended:
            return None
        page = await self._conversations.page(company, InboxFilter(user_id=user), 1, place.after)
        if not page.items:
            return None
        return ExportCursor(page.next, page.next is None, page.items[0].conversation)

    async def _part(
        self, company: str, user: str, place: ExportCursor, room: int, *, first: bool
    ) -> tuple[ExportedConversation | None, ExportCursor, int]:
        """As much of one conversation as fits, the cursor after it, and its size in bytes."""
        name, cursor = str(place.conversation), place.messages
        behind = ExportCursor(place.after, place.ended)
        state = await self._conversations.get(company, name)
        if state is None or state.person is None or state.person.user_id != user:
            return None, behind, 0
        seen = conversation_view(state)
        view = seen.model_copy(update={"last_message": None})
        used = CONVERSATION_BYTES
        messages: list[MessageView] = []
        while True:
            page = await self._inbox.messages(company, name, MESSAGES, cursor)
            size = sum(len(message.to_json()) for message in page.items)
            if used + size > room:
                page = await self._inbox.messages(company, name, 1, cursor)
                size = sum(len(message.to_json()) for message in page.items)
            if used + size > room and not (first and not messages):
                here = ExportCursor(place.after, place.ended, name, cursor)
                return ExportedConversation(conversation=view, messages=messages) if messages else None, here, used
            messages += page.items
            used += size
            cursor = page.next
            if cursor is None:
                return ExportedConversation(conversation=view, messages=messages), behind, used


def _cursor(place: ExportCursor) -> str:
    text = orjson.dumps([place.after, place.ended, place.conversation, place.messages])
    return base64.urlsafe_b64encode(text).decode().rstrip("=")


def _place(cursor: str) -> ExportCursor:
    try:
        match orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))):
            case [str() | None as after, bool() as ended, str() | None as conversation, str() | None as messages]:
                return ExportCursor(after, ended, conversation, messages)
            case _:
                raise ValueError("other parts")
    except (binascii.Error, ValueError) as error:
        raise BadCursorError from error
