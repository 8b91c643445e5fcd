"""Conversations by the names that clients of other protocols give them, opened for one request.

Nothing is stored here: the conversation's id is derived from its name (docs/decisions/0072), and it is followed through
the same hub, recovery and commands as websockets.
"""

from collections.abc import Sequence

from contracts.conversation import message_view
from contracts.conversation_rpc import MessageView
from contracts.ids import is_id
from gateway.chat.commands import ConversationPlace
from gateway.chat.session import Chat
from gateway.chat.thread import Thread
from gateway.domain.close_codes import CloseCode
from gateway.domain.conversation_ids import has_issued_form, named_conversation_id
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from gateway.errors import not_found
from gateway.ports import TokenCaller
from runtime.recent import Bounded

MAX_DELIVERED = 10_000
"""Conversations remembered whose client has received the whole newest answer."""


class Threads:
    """Everybody's conversations, by the names that doors use."""

    def __init__(self, chat: Chat) -> None:
        self._chat = chat
        self._open: set[Thread] = set()
        self._delivered = Bounded[str, int](MAX_DELIVERED)

    def mark_delivered(self, conversation: str, question_seq: int) -> None:
        """Notes that the client has received the whole answer to the message at `question_seq` from this gateway."""
        self._delivered[conversation] = question_seq

    def was_delivered(self, conversation: str, question_seq: int) -> bool:
        """Whether this gateway delivered the whole answer. Another gateway does not know, and sends it again."""
        return self._delivered.get(conversation) == question_seq

    async def conversation_named(self, caller: TokenCaller, door: str, name: str) -> str:
        """The caller's conversation of this name. The same name used by another user or company is another
        conversation. A name that has the form of an id issued by us must be the caller's conversation.

        Raises:
            RefusedError: NOT_FOUND, it is somebody else's.
        """
        if has_issued_form(name):
            return await self.own_conversation(caller, name)
        return named_conversation_id(caller.company, caller.subject, door, name)

    async def own_conversation(self, caller: TokenCaller, conversation: str) -> str:
        """Returns the conversation's id if it is the caller's; raises NOT_FOUND otherwise, and for invalid ids."""
        if not is_id(conversation):
            raise not_found("conversation")
        if self._chat.hub.hints(caller.company, conversation).person == caller.subject:
            return conversation
        return await self._chat.access.own_conversation(caller, conversation)

    def was_just_sent(self, caller: TokenCaller, conversation: str, seq: int) -> bool:
        """Whether a request at this gateway appended the caller's message at `seq` a moment ago, and no client has
        resumed its answer since."""
        hints = self._chat.hub.hints(caller.company, conversation)
        return (hints.person, hints.newest_sent_seq) == (caller.subject, seq)

    def may_have_actions(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether an action may have been proposed in it; false only if it began and stayed open at this gateway."""
        return self._chat.hub.hints(caller.company, conversation).may_have_actions

    async def newest_question_seq(self, caller: TokenCaller, conversation: str) -> int:
        """The sequence of its newest visitor message; 0 if there is none."""
        return (await self._chat.log.snapshot(caller.company, conversation)).newest_visitor

    async def last_messages(
        self, caller: TokenCaller, conversation: str, limit: int
    ) -> tuple[list[MessageView], bool, int]:
        """The last messages, at most `limit`, from the end of the log; whether none of the last `limit` is missing; and
        the newest fact's sequence."""
        log = self._chat.log
        snapshot = await log.snapshot(caller.company, conversation)
        facts, complete = await log.last_facts(caller.company, conversation, snapshot, MAX_STREAM_DISTANCE)
        messages = [MessageView.model_validate(view) for fact in facts if (view := message_view(fact)) is not None]
        # The newest facts of each kind may be older than the continuous part, with gaps before it.
        return messages[-limit:], complete or len(messages) >= limit + len(snapshot.last), snapshot.seq

    async def is_unanswered(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether a visitor message in it waits for an answer."""
        return (await self._chat.log.snapshot(caller.company, conversation)).unanswered

    def open(
        self,
        caller: TokenCaller,
        conversation: str,
        *,
        address: str,
        locale: str | None = None,
        after: int | None = None,
        door: str = "",
    ) -> Thread:
        """A thread for the caller's conversation, to be used in an `async with` statement. The id comes from
        `conversation_named`, `own_conversation` or `Access.new_conversation`.

        Args:
            address: the client's address, for limits.
            after: the sequence after which to follow; None to follow from now on, to send a message.
            door: the door's name, for traces and logs.
        """
        return Thread(self._chat, self._open, ConversationPlace(caller, conversation), address, locale, door, after)

    def deleted(self, company: str, conversations: Sequence[str]) -> None:
        """Forgets deleted conversations, and tells their open threads and the company's inboxes."""
        for conversation in conversations:
            self._chat.hub.deleted(company, conversation)
            self._chat.inboxes.changed(company, conversation)
        for thread in self._open:
            if thread.place.company == company and thread.place.conversation in conversations:
                thread.deleted()

    def drain(self) -> None:
        """Ends all open threads, since this gateway stops: clients continue at another one."""
        for thread in list(self._open):
            thread.terminate(CloseCode.DRAINING)
