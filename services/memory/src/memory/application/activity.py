"""Updates short-term memory from events, best effort and in the background.

Facts come late, twice and in any order, which is harmless, since each carries its own time. What cannot be stored is
dropped: nobody waits for it.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import structlog

from contracts.events.chat import AssistantMessage, VisitorMessage
from memory.adapters.market import MarketClient
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.redis_short_term import RedisShortTerm
from memory.adapters.signed_principals import PrincipalCheck
from memory.domain.conversation import CUSTOMER
from memory.domain.facts import LogFact
from memory.domain.mentions import mentioned_symbols
from memory.domain.short_term import LIFETIME, UserActivity
from memory.errors import ServiceUnavailableError
from runtime.clock import Clock

WAITING = 2_000
"""The most queued events."""
AT_ONCE = 4
"""Conversations whose facts are stored concurrently."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _Noted:
    """`user` None: the conversation's customer."""

    company: str
    conversation: str
    user: str | None
    happening: UserActivity


class Activity:
    """Users' activity, to be stored in their short-term memories."""

    name = "activity"

    def __init__(
        self,
        *,
        store: RedisShortTerm,
        conversations: MongoConversations,
        principals: PrincipalCheck,
        market: MarketClient,
        clock: Clock,
    ) -> None:
        self._store = store
        self._conversations = conversations
        self._principals = principals
        self._market = market
        self._clock = clock
        self._waiting: asyncio.Queue[_Noted] = asyncio.Queue(WAITING)
        self._workers: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        self._workers = [asyncio.create_task(self._keep(), name=self.name) for _ in range(AT_ONCE)]

    async def stop(self) -> None:
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await worker

    def stuck_because(self) -> str | None:
        """See runtime.liveness."""
        return "its task has ended" if any(worker.done() for worker in self._workers) else None

    def note(self, facts: Sequence[LogFact]) -> None:
        """Queues facts of conversations that have just been stored; never waits."""
        oldest = self._clock.now() - LIFETIME
        for fact in facts:
            if fact.stored_at > oldest and (noted := self._noted(fact)) is not None:
                with contextlib.suppress(asyncio.QueueFull):
                    self._waiting.put_nowait(noted)

    async def again(self, fact: LogFact) -> None:
        """Applies a fact that Redis has lost, at once; raises RedisUnavailableError, StoreUnavailableError."""
        noted = self._noted(fact)
        if noted is not None:
            await self._keep_one(noted)

    async def decided(self, company: str, user: str, action: str, at: datetime) -> None:
        """The user has decided about an action, or it has expired; raises RedisUnavailableError."""
        if at <= self._clock.now() - LIFETIME:
            return
        await self._store.update(company, user, UserActivity(at, clear=(action,)))

    def _noted(self, fact: LogFact) -> _Noted | None:
        company, conversation = fact.company, fact.conversation
        match fact.data:
            case VisitorMessage(principal=str() as principal, text=text):
                person = self._principals.person(principal, company, conversation)
                if person is None or person.role != CUSTOMER:
                    return None
                # What is named last is the newest.
                done = UserActivity(fact.stored_at, conversation, tuple(reversed(mentioned_symbols(text))))
                return _Noted(company, conversation, person.user_id, done)
            case AssistantMessage(actions=actions) if actions:
                return _Noted(company, conversation, None, UserActivity(fact.stored_at, add=tuple(actions)))
            case _:
                return None

    async def _keep(self) -> None:
        while True:
            noted = await self._waiting.get()
            try:
                await self._keep_one(noted)
            except Exception as error:
                # Whatever it is (a document that makes no sense, too): the next one must find its worker.
                _log.warning("what a user did is not in their short-term memory", error=repr(error)[:200])

    async def _keep_one(self, noted: _Noted) -> None:
        happening, user = noted.happening, noted.user
        if user is None:
            state = await self._conversations.get(noted.company, noted.conversation)
            if state is None or state.person is None or state.person.role != CUSTOMER:
                return
            user = state.person.user_id
        if happening.symbols:
            try:
                known = await self._market.known_symbols(list(happening.symbols))
            except ServiceUnavailableError:
                known = frozenset[str]()
            happening = replace(happening, symbols=tuple(name for name in happening.symbols if name in known))
        await self._store.update(noted.company, user, happening)
