"""Decides which conversation a returning person continues: a new one begins if they ask for it, or if the old one ended
long ago.

For a week, the next message reopens a resolved conversation. After that a new one follows it, with an id derived from
the old one's: somebody who comes back twice before writing gets the same one, and nothing is stored until they write.
"""

import asyncio
from datetime import timedelta

import structlog

from contracts.conversation import Snapshot
from contracts.conversation_rpc import ConversationView
from contracts.desk_rpc import ConversationUpdate, PersonMerge
from contracts.ids import conversation_start, derive_id
from gateway.adapters.desk import change_conversation, merge_person
from gateway.adapters.memory import BusMemory
from gateway.chat.customers import has_account
from gateway.chat.hub import Attachment
from gateway.domain import server_frames
from gateway.domain.conversation_ids import following_conversation_id, new_conversation_id
from gateway.errors import GatewayError, UnavailableError
from gateway.ports import TokenCaller, TokenReader
from runtime.calls.rpc import RpcClient
from runtime.clock import Clock

log = structlog.get_logger(__name__)

REOPENS_WITHIN = timedelta(days=7)
SECONDS = 2.0
"""Deadline for memory, as for everything that a chat can begin without."""
MOST_FOLLOWING = 5
"""The longest chain of conversations following each other that is looked through at once."""


MOST_LINKED = 10
"""Conversations of a visitor that one hello links to the customer they sign in as; the next hello links more."""


class Topics:
    """Asks memory for the state of conversations, and tells it which follows which."""

    def __init__(self, memory: BusMemory, rpc: RpcClient, tokens: TokenReader, clock: Clock, id_key: bytes) -> None:
        self._tokens = tokens
        self._memory = memory
        self._rpc = rpc
        self._clock = clock
        self._id_key = id_key

    async def current(self, caller: TokenCaller, conversation: str) -> tuple[str, str | None]:
        """The conversation to continue, and the one that it follows (None: no change). While memory does not answer
        nothing changes, so that everybody gets in."""
        previous: str | None = None
        for _ in range(MOST_FOLLOWING):
            following = await self._following(caller, conversation)
            if following is None:
                break
            conversation, previous = following, conversation
        return conversation, previous

    async def tell_resolved(self, attachment: Attachment, snapshot: Snapshot) -> None:
        """Tells a socket that the desk has resolved its conversation, which the log does not say. If memory does not
        answer, or has not stored the visitor's newest message, it counts as open."""
        conversation = attachment.conversation
        known = await self._known(attachment.company, conversation)
        if known is None or known.resolved_at is None or known.last_message is None:
            return
        if known.last_message.seq >= snapshot.newest_visitor:
            frame = server_frames.conversation_updated(conversation, resolved=True, seq=snapshot.seq)
            attachment.socket.push(frame)

    async def _known(self, company: str, conversation: str) -> ConversationView | None:
        try:
            async with asyncio.timeout(SECONDS):
                return await self._memory.conversation(company, conversation)
        except (UnavailableError, TimeoutError):
            return None

    async def _following(self, caller: TokenCaller, conversation: str) -> str | None:
        now = self._clock.now()
        begun = conversation_start(conversation)
        if begun is not None and now.timestamp() - begun < REOPENS_WITHIN.total_seconds():
            return None  # too young to have been over for so long: nobody has to be asked
        known = await self._known(caller.company, conversation)
        if known is None or known.resolved_at is None or now - known.resolved_at < REOPENS_WITHIN:
            return None
        over = int((known.resolved_at + REOPENS_WITHIN).timestamp() * 1000)
        return following_conversation_id(self._id_key, caller.company, caller.subject, conversation, over)

    async def begin(self, caller: TokenCaller, topic: str | None) -> tuple[str, str | None]:
        """A new conversation, and the person's latest one before it.

        Raises:
            UnavailableError: memory cannot tell the latest, or cannot store the topic.
        """
        latest = await self._memory.latest(caller.company, caller.subject)
        conversation = new_conversation_id(self._id_key, caller.company, caller.subject)
        if latest is not None or topic:
            await self._tell(caller, conversation, latest, topic)
        return conversation, latest

    async def signed_in(self, caller: TokenCaller, token: str | None) -> str | None:
        """Links the conversations of the visitor with this token to the customer who has signed in, for the desk.
        The customer does not see them in their chat, since the visitor's token still opens them. Returns the newest;
        what fails stays a visitor's."""
        if token is None or not has_account(caller):
            return None
        try:
            visitor = await self._tokens.verify_for_renewal(token)
            if visitor.role != "visitor" or visitor.company != caller.company:
                return None
            async with asyncio.timeout(SECONDS):
                linked = await merge_person(
                    self._rpc,
                    PersonMerge(
                        company_id=caller.company,
                        person_id=visitor.subject,
                        into=caller.subject,
                        merge_id=derive_id(caller.company, visitor.subject, "signed in", caller.subject),
                        most=MOST_LINKED,
                        by=caller.subject,
                        name=caller.name or caller.visit.name,
                    ),
                )
        except (GatewayError, TimeoutError) as error:
            log.warning("chat.visitor_not_linked", company=caller.company, error=str(error))
            return None
        return linked.conversations[0] if linked.conversations else None

    async def follows(self, caller: TokenCaller, conversation: str, previous: str) -> None:
        """Tells memory that somebody has written in a conversation that follows another. If that fails, it is told
        with the next message."""
        try:
            await self._tell(caller, conversation, previous, None)
        except GatewayError as error:
            log.warning("chat.not_linked", conversation=conversation, error=error.message)

    async def _tell(self, caller: TokenCaller, conversation: str, previous: str | None, topic: str | None) -> None:
        await change_conversation(
            self._rpc,
            ConversationUpdate(
                company_id=caller.company,
                conversation_id=conversation,
                update_id=derive_id(caller.company, conversation, "begins"),
                previous=previous,
                topic=topic,
                by=caller.subject,
                begins=True,
            ),
        )
