"""Updates short-term memory from events, best effort and in the background.

Facts come late, twice and in any order, which is harmless, since each carries its own time. A change that cannot be
stored is dropped: no caller waits for it.
"""

import asyncio
import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
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

MAX_QUEUED = 2_000
"""Events beyond this number are dropped."""
WORKERS = 4
"""Changes stored concurrently."""

_log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _QueuedActivity:
    """A change to a user's short-term memory. `user` None: the conversation's customer."""

    company: str
    conversation: str
    user: str | None
    activity: UserActivity


@dataclass(slots=True, kw_only=True)
class Activity:
    """Users' activity, to be stored in their short-term memories."""

    name = "activity"

    store: RedisShortTerm
    conversations: MongoConversations
    principals: PrincipalCheck
    market: MarketClient
    clock: Clock
    _queue: asyncio.Queue[_QueuedActivity] = field(init=False, default_factory=lambda: asyncio.Queue(MAX_QUEUED))
    _workers: list[asyncio.Task[None]] = field(init=False, default_factory=list)

    async def start(self) -> None:
        self._workers = [asyncio.create_task(self._run_worker(), name=self.name) for _ in range(WORKERS)]

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
        oldest = self.clock.now() - LIFETIME
        for fact in facts:
            if fact.stored_at > oldest and (queued := self._activity_of(fact)) is not None:
                with contextlib.suppress(asyncio.QueueFull):
                    self._queue.put_nowait(queued)

    async def reapply(self, fact: LogFact) -> None:
        """Applies a fact that Redis has lost, without queueing; raises RedisUnavailableError, StoreUnavailableError."""
        queued = self._activity_of(fact)
        if queued is not None:
            await self._store_activity(queued)

    async def clear_action(self, company: str, user: str, action: str, time: datetime) -> None:
        """Removes an action that the user has decided about or that has expired; raises RedisUnavailableError."""
        if time <= self.clock.now() - LIFETIME:
            return
        await self.store.update(company, user, UserActivity(time, clear=(action,)))

    def _activity_of(self, fact: LogFact) -> _QueuedActivity | None:
        company, conversation = fact.company, fact.conversation
        match fact.data:
            case VisitorMessage(principal=str() as principal, text=text):
                person = self.principals.person(principal, company, conversation)
                if person is None or person.role != CUSTOMER:
                    return None
                # The symbol mentioned last is the newest.
                activity = UserActivity(fact.stored_at, conversation, tuple(reversed(mentioned_symbols(text))))
                return _QueuedActivity(company, conversation, person.user_id, activity)
            case AssistantMessage(actions=actions) if actions:
                return _QueuedActivity(company, conversation, None, UserActivity(fact.stored_at, add=tuple(actions)))
            case _:
                return None

    async def _run_worker(self) -> None:
        while True:
            queued = await self._queue.get()
            try:
                await self._store_activity(queued)
            except Exception as error:
                # Any error, a malformed document included: the worker must go on with the next change.
                _log.warning("what a user did is not in their short-term memory", error=repr(error)[:200])

    async def _store_activity(self, queued: _QueuedActivity) -> None:
        activity, user = queued.activity, queued.user
        if user is None:
            state = await self.conversations.get(queued.company, queued.conversation)
            if state is None or state.person is None or state.person.role != CUSTOMER:
                return
            user = state.person.user_id
        if activity.symbols:
            try:
                known = await self.market.known_symbols(list(activity.symbols))
            except ServiceUnavailableError:
                known = frozenset[str]()
            activity = replace(activity, symbols=tuple(symbol for symbol in activity.symbols if symbol in known))
        await self.store.update(queued.company, user, activity)
