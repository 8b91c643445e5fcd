"""Decides which conversation a returning person continues: a new one begins if they ask for it, or if the old one ended
long ago.

For a week, the next message reopens a resolved conversation. After that a new one follows it. Its id is derived from
the old one's: somebody who returns twice before writing gets the same one, and nothing is stored until they write.
"""

import asyncio
from datetime import timedelta

import structlog

from contracts.conversation import Snapshot
from contracts.conversation_rpc import ConversationView
from contracts.desk_rpc import PERSON_MERGE, ConversationUpdate, PersonMerge
from contracts.ids import conversation_start, derive_id
from gateway.adapters.desk import change_conversation
from gateway.adapters.identity import GatewayTokens
from gateway.adapters.memory import BusMemory
from gateway.adapters.service_calls import CHANGE_SECONDS, ask
from gateway.chat.customers import has_account
from gateway.chat.hub import Attachment
from gateway.domain import server_frames
from gateway.domain.conversation_ids import following_conversation_id, new_conversation_id
from gateway.errors import GatewayError, UnavailableError
from gateway.ports import TokenCaller
from runtime.calls.rpc import RpcClient
from runtime.clock import Clock

log = structlog.get_logger(__name__)

REOPENS_WITHIN = timedelta(days=7)
MEMORY_SECONDS = 2.0
"""Deadline of calls to memory, as for everything without which a chat can begin."""
MAX_CHAIN_LENGTH = 5
"""Conversations following each other that are looked through at once."""
MAX_LINKED = 10
"""Conversations of a visitor that one hello links to the customer they sign in as; the next hello links more."""


class Topics:
    """Reads the state of conversations from memory, and reports to it which conversation follows which."""

    def __init__(self, memory: BusMemory, rpc: RpcClient, tokens: GatewayTokens, clock: Clock, id_key: bytes) -> None:
        self._tokens = tokens
        self._memory = memory
        self._rpc = rpc
        self._clock = clock
        self._id_key = id_key

    async def current_conversation(self, caller: TokenCaller, conversation: str) -> tuple[str, str | None]:
        """The conversation to continue, and the one that it follows; None if that is unchanged, as it is while memory
        does not answer."""
        previous: str | None = None
        for _ in range(MAX_CHAIN_LENGTH):
            following = await self._follow_up_of(caller, conversation)
            if following is None:
                break
            conversation, previous = following, conversation
        return conversation, previous

    async def report_resolved(self, attachment: Attachment, snapshot: Snapshot) -> None:
        """Tells a socket if the desk has resolved its conversation, which the log does not say. If memory does not
        answer, or has not stored the visitor's newest message, the conversation counts as open."""
        conversation = attachment.conversation
        view = await self._find_view(attachment.company, conversation)
        if view is None or view.resolved_at is None or view.last_message is None:
            return
        if view.last_message.seq >= snapshot.newest_visitor:
            frame = server_frames.conversation_updated(conversation, resolved=True, seq=snapshot.seq)
            attachment.socket.push(frame)

    async def _find_view(self, company: str, conversation: str) -> ConversationView | None:
        try:
            async with asyncio.timeout(MEMORY_SECONDS):
                return await self._memory.conversation(company, conversation)
        except (UnavailableError, TimeoutError):
            return None

    async def _follow_up_of(self, caller: TokenCaller, conversation: str) -> str | None:
        now = self._clock.now()
        started_at = conversation_start(conversation)
        if started_at is not None and now.timestamp() - started_at < REOPENS_WITHIN.total_seconds():
            return None  # too young to have ended so long ago: memory need not be asked
        view = await self._find_view(caller.company, conversation)
        if view is None or view.resolved_at is None or now - view.resolved_at < REOPENS_WITHIN:
            return None
        ended_at_ms = int((view.resolved_at + REOPENS_WITHIN).timestamp() * 1000)
        return following_conversation_id(self._id_key, caller.company, caller.subject, conversation, ended_at_ms)

    async def begin(self, caller: TokenCaller, topic: str | None) -> tuple[str, str | None]:
        """A new conversation's id, and the person's latest conversation before it.

        Raises:
            UnavailableError: memory does not answer.
        """
        latest = await self._memory.latest(caller.company, caller.subject)
        conversation = new_conversation_id(self._id_key, caller.company, caller.subject)
        if latest is not None or topic:
            await self._store_start(caller, conversation, latest, topic)
        return conversation, latest

    async def link_visitor(self, caller: TokenCaller, token: str | None) -> str | None:
        """Links the conversations of the visitor with this token to the customer who has signed in, for the desk.
        The customer does not see them in their chat, since the visitor's token still opens them. Returns the newest
        one; None if there is none or linking failed."""
        if token is None or not has_account(caller):
            return None
        try:
            visitor = await self._tokens.verify_for_renewal(token)
            if visitor.role != "visitor" or visitor.company != caller.company:
                return None
            async with asyncio.timeout(MEMORY_SECONDS):
                request = PersonMerge(
                    company_id=caller.company,
                    person_id=visitor.subject,
                    into=caller.subject,
                    merge_id=derive_id(caller.company, visitor.subject, "signed in", caller.subject),
                    most=MAX_LINKED,
                    by=caller.subject,
                    name=caller.name or caller.visit.name,
                )
                linked = await ask(self._rpc, PERSON_MERGE, request, deadline=CHANGE_SECONDS)
        except (GatewayError, TimeoutError) as error:
            log.warning("chat.visitor_not_linked", company=caller.company, error=str(error))
            return None
        return linked.conversations[0] if linked.conversations else None

    async def report_follow_up(self, caller: TokenCaller, conversation: str, previous: str) -> bool:
        """Reports to memory that somebody has written in a conversation that follows another; returns whether memory
        has stored it."""
        try:
            await self._store_start(caller, conversation, previous, None)
        except GatewayError as error:
            log.warning("chat.not_linked", conversation=conversation, error=error.message)
            return False
        return True

    async def _store_start(
        self, caller: TokenCaller, conversation: str, previous: str | None, topic: str | None
    ) -> None:
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
