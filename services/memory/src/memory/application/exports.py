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
from memory.domain.inbox_index import InboxQuery
from memory.domain.keys import BadCursorError

PAGE_BYTES = 400_000
"""Bytes of conversations in one page: with the memory it stays under 512 KiB. One message has 256 KiB at most."""
CONVERSATION_BYTES = 1_500
"""Bytes of a conversation's own view, without messages."""
MESSAGES_PER_READ = 10


@dataclass(frozen=True, slots=True)
class ExportCursor:
    """The position at which a page begins: first the messages after `messages` of `conversation`, if that is given,
    then the list's conversations after `after`, unless the list has ended."""

    after: str | None = None
    ended: bool = False
    conversation: str | None = None
    messages: str | None = None


class Exports:
    """Reads exports page by page."""

    def __init__(self, *, memories: Memories, conversations: MongoConversations, inbox: Inbox) -> None:
        self._memories = memories
        self._conversations = conversations
        self._inbox = inbox

    async def page(self, request: MemoryExportRequest) -> MemoryExportReply:
        """Returns one page of the export; the first one contains the memory.

        Raises:
            BadCursorError, StoreUnavailableError.
        """
        company, user, cursor = request.company_id, request.user_id, request.cursor
        position = _parse_cursor(cursor) if cursor else ExportCursor()
        await self._inbox.fresh()
        memory = None if cursor else (await self._memories.read(company, user))[0]
        parts: list[ExportedConversation] = []
        remaining_bytes = PAGE_BYTES
        while (position := await self._next(company, user, position)) is not None:
            part, position, used = await self._part(company, user, position, remaining_bytes, first=not parts)
            parts.extend([part] if part is not None else [])
            remaining_bytes -= used
            if position.conversation is not None:
                break  # it did not fit
        return MemoryExportReply(
            memory=memory, conversations=parts, next=_format_cursor(position) if position else None
        )

    async def _next(self, company: str, user: str, position: ExportCursor) -> ExportCursor | None:
        """The position itself if it is in a conversation, otherwise the list's next conversation; None at the end."""
        if position.conversation is not None:
            return position
        if position.ended:
            return None
        page = await self._conversations.page(company, InboxQuery(person=user), 1, position.after)
        if not page.items:
            return None
        return ExportCursor(page.next, page.next is None, page.items[0].conversation)

    async def _part(
        self, company: str, user: str, position: ExportCursor, remaining_bytes: int, *, first: bool
    ) -> tuple[ExportedConversation | None, ExportCursor, int]:
        """As much of one conversation as fits into `remaining_bytes`, the position after it, and its size in bytes."""
        conversation, cursor = str(position.conversation), position.messages
        next_position = ExportCursor(position.after, position.ended)
        state = await self._conversations.get(company, conversation)
        if state is None or state.person is None or state.person.user_id != user:
            return None, next_position, 0
        full_view = conversation_view(state)
        view = full_view.model_copy(update={"last_message": None})
        used_bytes = CONVERSATION_BYTES
        messages: list[MessageView] = []
        while True:
            page = await self._inbox.messages(company, conversation, MESSAGES_PER_READ, cursor)
            size = sum(len(message.to_json()) for message in page.items)
            if used_bytes + size > remaining_bytes:
                page = await self._inbox.messages(company, conversation, 1, cursor)
                size = sum(len(message.to_json()) for message in page.items)
            if used_bytes + size > remaining_bytes and not (first and not messages):
                resume_position = ExportCursor(position.after, position.ended, conversation, cursor)
                return (
                    ExportedConversation(conversation=view, messages=messages) if messages else None,
                    resume_position,
                    used_bytes,
                )
            messages += page.items
            used_bytes += size
            cursor = page.next
            if cursor is None:
                return ExportedConversation(conversation=view, messages=messages), next_position, used_bytes


def _format_cursor(position: ExportCursor) -> str:
    json_bytes = orjson.dumps([position.after, position.ended, position.conversation, position.messages])
    return base64.urlsafe_b64encode(json_bytes).decode().rstrip("=")


def _parse_cursor(cursor: str) -> ExportCursor:
    try:
        match orjson.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))):
            case [str() | None as after, bool() as ended, str() | None as conversation, str() | None as messages]:
                return ExportCursor(after, ended, conversation, messages)
            case _:
                raise ValueError("other parts")
    except (binascii.Error, ValueError) as error:
        raise BadCursorError from error
