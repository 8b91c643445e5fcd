"""Learns from finished turns, once each, from what their user wrote."""

import asyncio
from contextlib import suppress
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
from memory.domain.remembered import Remembered
from memory.errors import ServiceUnavailableError

REACH = 50
"""Messages examined to find those of the turn."""
MOST_SYMBOLS = 20
UNDER_WAY = 1.0
"""How long a reader of remembered facts waits for what is being learned."""


class Learner:
    """Learns facts about customers from their turns and watchlists."""

    def __init__(
        self,
        *,
        memories: Memories,
        conversations: MongoConversations,
        inbox: Inbox,
        histories: HistoryReader,
        market: MarketClient,
        log: StreamLog,
    ) -> None:
        self._memories = memories
        self._conversations = conversations
        self._inbox = inbox
        self._histories = histories
        self._market = market
        self._log = log

    async def turn(
        self, company: str, conversation: str, turn: str, basis: int, at: datetime, *, patient: bool
    ) -> None:
        """Learns from the turn that answered the message at `basis`; repeating it changes nothing.

        If `patient`, waits for a market that does not answer; otherwise the turn's symbols are ignored.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError, ServiceUnavailableError: a retry may
            succeed.
        """
        heard_of = await self.unanswered_messages(company, conversation, basis)
        if heard_of is None:
            return
        user, said = heard_of
        named = list(dict.fromkeys(name for one in said for name in mentioned_symbols(one.text)))[:MOST_SYMBOLS]
        try:
            known = await self._market.known_symbols(named) if named else frozenset[str]()
        except ServiceUnavailableError:
            if patient:
                raise
            known = frozenset[str]()
        era = self._log.era

        def learn(held: Remembered) -> Remembered:
            heard = tuple(one.text for one in said if LogPosition(era, one.seq) > held.forgotten_up_to)
            return with_lesson(held, FinishedTurn(turn, at, heard, known)) if heard else held

        await self._memories.change(company, user, learn, turn=turn)

    async def unanswered_messages(
        self, company: str, conversation: str, basis: int
    ) -> tuple[str, tuple[MessageView, ...]] | None:
        """The author and their messages since the last answer, up to the message at `basis`; None: no customer.

        Raises:
            StoreUnavailableError, ProjectionBehindError, UnknownSequenceError: a retry may succeed.
        """
        state = await self._conversations.get(company, conversation)
        if state is None or state.person_position is None:
            # Another replica is perhaps about to store the message that was answered.
            await self._inbox.fresh()
            state = await self._conversations.get(company, conversation)
        if state is None or state.person is None or state.person.role != CUSTOMER:
            return None
        found = await self._histories.newest(company, conversation, basis, REACH, exact=True)
        said = unanswered_messages(found.messages)
        return (state.person.user_id, said) if said else None

    async def caught_up(self) -> None:
        """Waits a moment until what was said has been learned: an answer is acknowledged after that."""
        # What is not learned in time is not told yet, and a log that does not answer hides nothing that is.
        with suppress(NexusError, TimeoutError):
            async with asyncio.timeout(UNDER_WAY):
                await self._inbox.fresh()

    async def forget(self, company: str, user: str) -> bool:
        """Forgets everything, including what was said but not learned yet; True if something was remembered.

        Raises:
            StoreUnavailableError, and what the log raises.
        """
        said = LogPosition(self._log.era, await self._log.end())
        await self._inbox.fresh()
        silent = await self._conversations.latest_of(company, user) is None
        return await self._memories.forget(company, user, None if silent else said)

    async def watched(self, company: str, user: str, symbol: str, call: str, at: datetime) -> None:
        """A symbol was added to the user's watchlist, and becomes a favourite; raises StoreUnavailableError."""
        await self._memories.change(company, user, lambda held: with_favourite(held, symbol, call, at))


def unanswered_messages(messages: tuple[MessageView, ...]) -> tuple[MessageView, ...]:
    """The user's messages since the last answer, oldest first."""
    said: list[MessageView] = []
    for message in reversed(messages):
        if message.role in (Role.ASSISTANT, Role.OPERATOR):
            break
        if message.role.gets_answers:
            said.append(message)
    return tuple(reversed(said))
