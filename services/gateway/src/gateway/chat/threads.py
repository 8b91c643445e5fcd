"""Conversations under the names that clients of other protocols give them, opened for one request.

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
from gateway.domain.conversation_ids import has_issued_form, named_conversation_id, new_conversation_id
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from gateway.errors import not_found
from gateway.ports import TokenCaller
from runtime.recent import Bounded

MOST_TOLD = 10_000
"""Conversations remembered whose client has received the whole newest answer."""


class Threads:
    """Everybody's conversations, by the names that doors have for them."""

    def __init__(self, chat: Chat, id_key: bytes) -> None:
        self._chat = chat
        self._id_key = id_key
        self._open: set[Thread] = set()
        self._told = Bounded[str, int](MOST_TOLD)

    def mark_delivered(self, conversation: str, asked: int) -> None:
        """The client has received the whole answer to the message at `asked` from this gateway."""
        self._told[conversation] = asked

    def was_delivered(self, conversation: str, asked: int) -> bool:
        """Whether it has. Another gateway does not know, and sends it again."""
        return self._told.get(conversation) == asked

    def fresh(self, caller: TokenCaller) -> str:
        """A new, empty conversation."""
        return new_conversation_id(self._id_key, caller.company, caller.subject)

    async def named(self, caller: TokenCaller, door: str, name: str) -> str:
        """The caller's conversation of this name. A name made up by the client is the caller's alone: the same name of
        another user or company is another conversation. A name that we gave out must be the caller's.

        Raises:
            RefusedError: NOT_FOUND, it is somebody else's.
        """
        if has_issued_form(name):
            return await self.own_conversation(caller, name)
        return named_conversation_id(caller.company, caller.subject, door, name)

    async def own_conversation(self, caller: TokenCaller, conversation: str) -> str:
        """The conversation with this id, if it is the caller's; raises NOT_FOUND otherwise, and for invalid ids."""
        if not is_id(conversation):
            raise not_found("conversation")
        if self._chat.hub.known_of(caller.company, conversation).whose == caller.subject:
            return conversation
        return await self._chat.access.own_conversation(caller, conversation)

    def just_sent(self, caller: TokenCaller, conversation: str, seq: int) -> bool:
        """Whether a request appended the caller's message at `seq` a moment ago, and nobody took it back since."""
        known = self._chat.hub.known_of(caller.company, conversation)
        return (known.whose, known.sent) == (caller.subject, seq)

    def has_actions(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether an action may have been proposed in it; no only of one that began, and stayed open, here."""
        return self._chat.hub.known_of(caller.company, conversation).has_actions

    async def newest(self, caller: TokenCaller, conversation: str) -> int:
        """The sequence of its newest visitor message; 0: nobody has written in it."""
        return (await self._chat.log.snapshot(caller.company, conversation)).newest_visitor

    async def last_messages(
        self, caller: TokenCaller, conversation: str, most: int
    ) -> tuple[list[MessageView], bool, int]:
        """Returns the last messages from the log's end, whether those are the last `most`, and the newest fact's
        sequence."""
        log = self._chat.log
        snapshot = await log.snapshot(caller.company, conversation)
        facts, complete = await log.last_facts(caller.company, conversation, snapshot, MAX_STREAM_DISTANCE)
        found = [MessageView.model_validate(view) for fact in facts if (view := message_view(fact)) is not None]
        # The newest fact of a kind may stand apart from the others.
        return found[-most:], complete or len(found) >= most + len(snapshot.last), snapshot.seq

    async def awaited(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether a visitor's message in it waits for an answer."""
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
        """The caller's conversation (from `named`, `own` or `fresh`), to be followed in an `async with` statement.

        Args:
            address: for the limits by address.
            after: follow after this fact; None: from now on, to send something.
            door: its name, for traces and logs.
        """
        return Thread(self._chat, self._open, ConversationPlace(caller, conversation), address, locale, door, after)

    def deleted(self, company: str, conversations: Sequence[str]) -> None:
        """These conversations were deleted."""
        for conversation in conversations:
            self._chat.hub.deleted(company, conversation)
        for thread in self._open:
            if thread.place.company == company and thread.place.conversation in conversations:
                thread.deleted()

    def drain(self) -> None:
        """Ends all reading: clients continue elsewhere."""
        for thread in list(self._open):
            thread.terminate(CloseCode.DRAINING)
