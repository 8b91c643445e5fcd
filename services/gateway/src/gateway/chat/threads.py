"""Conversations under the names that other people's clients have for them, opened for the time of one request.

Nothing is kept here: a name says by itself which conversation it means (docs/decisions/0072), and what happens in it is
heard through the hub, the recovery and the commands that websockets use.
"""

from collections import OrderedDict
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager

from contracts.conversation import message_view
from contracts.errors import ErrorCode
from contracts.ids import is_id
from contracts.rpc import MessageView
from gateway.chat.commands import ConversationPlace
from gateway.chat.session import Chat
from gateway.chat.thread import Thread
from gateway.domain.close_codes import CloseCode
from gateway.domain.conversation_ids import looks_issued, named_conversation_id, new_conversation_id
from gateway.domain.recovery import MAX_STREAM_DISTANCE
from gateway.errors import Limited, Refused, not_found
from gateway.ports import TokenCaller

AGAIN = 5.0
MOST_TOLD = 10_000
"""Conversations of which it is known that their client has had the whole of the newest answer."""


class Threads:
    """Everybody's conversations, by the names that doors have for them."""

    def __init__(self, chat: Chat, id_key: bytes) -> None:
        self._chat = chat
        self._id_key = id_key
        self._open: set[Thread] = set()
        self._told: OrderedDict[str, int] = OrderedDict()

    def told(self, conversation: str, asked: int) -> None:
        """The client has had the whole answer to the message at `asked`, from here."""
        self._told[conversation] = asked
        self._told.move_to_end(conversation)
        if len(self._told) > MOST_TOLD:
            self._told.popitem(last=False)

    def was_told(self, conversation: str, asked: int) -> bool:
        """Whether it had. Another gateway does not know, and tells it once more."""
        return self._told.get(conversation) == asked

    def fresh(self, caller: TokenCaller) -> str:
        """A conversation that nobody has written in."""
        return new_conversation_id(self._id_key, caller.company, caller.subject)

    async def named(self, caller: TokenCaller, door: str, name: str) -> str:
        """The caller's conversation of this name. A name that the client made up is the caller's alone: the same name
        of another user or company is another conversation. One that we gave out must be theirs.

        Raises:
            Refused: NOT_FOUND, it is somebody else's.
        """
        if looks_issued(name):
            return await self.own(caller, name)
        return named_conversation_id(caller.company, caller.subject, door, name)

    async def own(self, caller: TokenCaller, conversation: str) -> str:
        """The conversation itself, when it is the caller's; raises NOT_FOUND otherwise, and for what is no id."""
        if not is_id(conversation):
            raise not_found("conversation")
        if self._chat.hub.known(caller.company, conversation).whose == caller.subject:
            return conversation
        return await self._chat.access.own(caller, conversation)

    def just_sent(self, caller: TokenCaller, conversation: str, seq: int) -> bool:
        """Whether a request put the caller's message at `seq` there moments ago, and nobody took it back since."""
        known = self._chat.hub.known(caller.company, conversation)
        return (known.whose, known.sent) == (caller.subject, seq)

    async def newest(self, caller: TokenCaller, conversation: str) -> int:
        """The sequence of its newest visitor message; 0: nobody has written in it."""
        return (await self._chat.log.snapshot(caller.company, conversation)).newest_visitor

    async def last_messages(
        self, caller: TokenCaller, conversation: str, most: int
    ) -> tuple[list[MessageView], bool, int]:
        """Its last messages out of the log's end; whether those are the last `most`; its newest fact's sequence."""
        log = self._chat.log
        snapshot = await log.snapshot(caller.company, conversation)
        facts, complete = await log.last_facts(caller.company, conversation, snapshot, MAX_STREAM_DISTANCE)
        found = [MessageView.model_validate(view) for fact in facts if (view := message_view(fact)) is not None]
        # The newest fact of a kind may stand apart from the others.
        return found[-most:], complete or len(found) >= most + len(snapshot.last), snapshot.seq

    async def awaited(self, caller: TokenCaller, conversation: str) -> bool:
        """Whether a visitor's message in it waits for an answer."""
        return (await self._chat.log.snapshot(caller.company, conversation)).unanswered

    @asynccontextmanager
    async def open(
        self,
        caller: TokenCaller,
        conversation: str,
        *,
        address: str,
        locale: str | None = None,
        after: int | None = None,
        door: str = "",
    ) -> AsyncGenerator[Thread]:
        """Follows the caller's conversation (of `named`, `own` or `fresh`) inside the block.

        Args:
            address: whose limits count.
            after: behind this fact; None: from now on, to send something.
            door: which one, for traces and logs.

        Raises:
            Refused: FORBIDDEN, this role has no conversations; NOT_FOUND, no such company.
            Limited: too many at a time.
            Unavailable: it cannot be read now.
        """
        chat = self._chat
        if not caller.writes_as_visitor:
            raise Refused(ErrorCode.FORBIDDEN, f"the role {caller.role} has no conversations")
        if await chat.companies.get(caller.company) is None:
            raise not_found("company")
        if not chat.door.enter_subject(caller.company, caller.subject):
            raise Limited("too many requests at a time: wait for one to end", AGAIN)
        thread = Thread(chat, ConversationPlace(caller, conversation), address, locale, door)
        self._open.add(thread)
        try:
            if after is None:
                await thread.begin()
            else:
                thread.open(after)
            yield thread
        finally:
            self._open.discard(thread)
            chat.door.leave_subject(caller.company, caller.subject)
            await thread.close()

    def deleted(self, company: str, conversations: Sequence[str]) -> None:
        """Memory tells that these were deleted."""
        for conversation in conversations:
            self._chat.hub.deleted(company, conversation)
        for thread in self._open:
            if thread.place.company == company and thread.place.conversation in conversations:
                thread.deleted()

    def drain(self) -> None:
        """Ends what is being read: its clients go on elsewhere."""
        for thread in list(self._open):
            thread.terminate(CloseCode.DRAINING)
