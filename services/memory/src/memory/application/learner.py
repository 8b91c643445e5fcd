"""Learns from the messages that a user wrote before each finished turn, once per turn."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from contracts.conversation_rpc import MessageView
from contracts.errors import NexusError
from contracts.events.chat import Role
from memory.adapters.chat_log import StreamLog
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.memories import Memories
from memory.domain.conversation import CUSTOMER
from memory.domain.keys import LogPosition
from memory.domain.lesson import FinishedTurn, with_favourite, with_lesson
from memory.domain.mentions import mentioned_symbols
from memory.domain.proposals import is_judged, may_state_facts
from memory.domain.remembered import Remembered
from memory.errors import ServiceUnavailableError

MAX_MESSAGES = 50
"""Messages among which those of the turn are looked for."""
MAX_SYMBOLS = 20
CATCH_UP_SECONDS = 1.0
"""How long a reader of remembered facts waits for lessons that are being learned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Learns facts about customers from their turns and watchlists."""

    memories: Memories
    conversations: MongoConversations
    inbox: Inbox
    histories: HistoryReader
    market: MarketClient
    log: StreamLog

    async def turn(
        self, company: str, conversation: str, turn: str, basis: int, time: datetime, *, patient: bool
    ) -> bool:
        """Learns from the turn that answered the message at `basis`; repeating it changes nothing. Returns whether a
        model may still propose something about it.

        If `patient`, waits for a market that does not answer; otherwise the turn's symbols are ignored.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError, ServiceUnavailableError: a retry may
            succeed.
        """
        author_messages = await self.unanswered_messages(company, conversation, basis)
        if author_messages is None:
            return False
        user, messages = author_messages
        symbols = list(dict.fromkeys(symbol for message in messages for symbol in mentioned_symbols(message.text)))[
            :MAX_SYMBOLS
        ]
        try:
            known_symbols = await self.market.known_symbols(symbols) if symbols else frozenset[str]()
        except ServiceUnavailableError:
            if patient:
                raise
            known_symbols = frozenset[str]()
        era = self.log.era

        def learn(memory: Remembered) -> Remembered:
            texts = tuple(
                message.text for message in messages if LogPosition(era, message.seq) > memory.forgotten_up_to
            )
            return with_lesson(memory, FinishedTurn(turn, time, texts, known_symbols)) if texts else memory

        _, after = await self.memories.change(company, user, learn, turn=turn)
        return not is_judged(after, turn) and may_state_facts([message.text for message in messages])

    async def unanswered_messages(
        self, company: str, conversation: str, basis: int
    ) -> tuple[str, tuple[MessageView, ...]] | None:
        """The author and their messages since the last answer, up to the message at `basis`; None if it is no customer.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError: a retry may succeed.
        """
        state = await self.conversations.get(company, conversation)
        if state is None or state.person_position is None:
            # Another replica may be about to store the message that was answered.
            await self.inbox.fresh()
            state = await self.conversations.get(company, conversation)
        if state is None or state.person is None or state.person.role != CUSTOMER:
            return None
        history = await self.histories.newest(company, conversation, basis, MAX_MESSAGES, exact=True)
        messages = unanswered_messages(history.messages)
        return (state.person.user_id, messages) if messages else None

    async def caught_up(self) -> None:
        """Waits a moment until everything said so far has been learned: an answer's fact is acknowledged after that."""
        # After that time, or if the log does not answer, readers get what has been learned.
        with suppress(NexusError, TimeoutError):
            async with asyncio.timeout(CATCH_UP_SECONDS):
                await self.inbox.fresh()

    async def forget(self, company: str, user: str) -> bool:
        """Forgets everything, including what was said but not learned yet; returns whether anything was remembered.

        Raises:
            StoreUnavailableError, and what the log raises.
        """
        newest = LogPosition(self.log.era, await self.log.end())
        await self.inbox.fresh()
        has_no_conversation = await self.conversations.latest_of(company, user) is None
        return await self.memories.forget(company, user, None if has_no_conversation else newest)

    async def add_favourite(self, company: str, user: str, symbol: str, call: str, time: datetime) -> None:
        """Makes a symbol that was added to the user's watchlist a favourite; raises StoreUnavailableError."""
        await self.memories.change(company, user, lambda memory: with_favourite(memory, symbol, call, time))


def unanswered_messages(messages: tuple[MessageView, ...]) -> tuple[MessageView, ...]:
    """The user's messages since the last answer, oldest first."""
    newest_first: list[MessageView] = []
    for message in reversed(messages):
        if message.role in (Role.ASSISTANT, Role.OPERATOR):
            break
        if message.role.gets_answers:
            newest_first.append(message)
    return tuple(reversed(newest_first))
