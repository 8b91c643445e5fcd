"""Everything that is kept of a user, page by page."""

import base64
import binascii
from dataclasses import dataclass

import orjson

from contracts.memory_rpc import ExportedConversation, MemoryExportReply
from contracts.rpc import MessageView
from memory.adapters.mongo_conversations import MongoConversations
from memory.application.inbox import Inbox, conversation_view
from memory.application.memories import Memories
from memory.domain.keys import BadCursorError
from memory.ports import InboxFilter

PAGE_BYTES = 400_000
"""Of conversations in one page: with the memory, under 512 KiB. One message alone has 256 KiB at most."""
CONVERSATION_BYTES = 1_500
"""Of a conversation's own view, beside its last message."""
MESSAGES = 10


@dataclass(frozen=True, slots=True)
class ExportCursor:
    """Where a page begins: with the messages after `messages` of `conversation` if there is one, then with the list's
    conversations after `after` unless it has ended."""

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

    async def page(self, company: str, user: str, cursor: str | None) -> MemoryExportReply:
        """One page; the first one carries the memory.

        Raises:
            BadCursorError, StoreUnavailable.
        """
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
        """The place itself if a conversation begins there, or the list's next one; None: there is none."""
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
        """What fits of one conversation, the place behind it, and the bytes it takes."""
        name, cursor = str(place.conversation), place.messages
        behind = ExportCursor(place.after, place.ended)
        state = (await self._conversations.load([(company, name)])).get((company, name))
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
