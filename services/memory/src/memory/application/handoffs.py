"""Conversations that wait for a person in vain, or whose owner has left, continue without them: exactly once,
whichever replica watches."""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.conversation import Snapshot
from contracts.errors import NexusError
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations, waiting_key
from memory.adapters.redis_looks import RedisLooks
from memory.application.desk import AT_DESK
from memory.domain.conversation import InboxConversation
from memory.domain.desk import IN_TURN
from memory.domain.handoff import (
    BY,
    ROLL_CALL,
    Absence,
    Decision,
    GiveBack,
    LogPlace,
    Notify,
    NotYet,
    Patience,
    QueuePlace,
    decide,
    is_superseded_notice,
    unreplied_range,
)
from memory.domain.keys import LogPosition, milliseconds
from memory.errors import RedisUnavailableError, StoreUnavailableError
from memory.metrics import HANDOVER_OLDEST, HANDOVERS
from memory.ports import LogClock
from runtime.conversation import NewFact
from runtime.errors import ConversationBusyError

DEFAULTS = CompanyConfig(company_id="default", ai_auto_response_enabled=True)
LIMIT = 200
"""Waiting conversations that one query of a sweep reads."""
QUERIES = 10
"""Queries of one sweep at most."""
AT_ONCE = 10
"""Conversations that are looked at side by side."""
NEWEST = 20
"""Of those that are due, that many are read from the end if there are more than LIMIT."""
MOST_AT_ONCE = 6
"""Facts appended to a conversation in one pass: usually a change of owner and its notice."""
MEASURED_FOR = timedelta(minutes=5)
AGAIN = timedelta(seconds=30)
"""When a usual wait that nobody could tell is asked for again."""
SOON = timedelta(seconds=5)
"""When to look again at a conversation that could not be read or did not stand still; and how far ahead the sweep sees
what comes, so that it does not rest."""

_log = structlog.get_logger(__name__)


class Settled(NamedTuple):
    """The number of facts appended to a conversation, and when to look again; None: not before something changes."""

    appended: int
    again: datetime | None


class Handoffs:
    """The sweep over waiting conversations. The store says where to look and when; the log and its fence decide.

    A conversation is read when it begins to wait, and after that only when something is due in it: those that wait
    without an end cost nothing, and hold up nobody. `give` assigns one in turn (see Desk.give_in_turn).
    """

    def __init__(
        self,
        *,
        conversations: MongoConversations,
        companies: MongoCompanies,
        log: StreamLog,
        looks: RedisLooks,
        clock: LogClock,
        usual: Callable[[str], Awaitable[timedelta | None]],
        give: Callable[[InboxConversation, datetime], Awaitable[datetime | None]],
    ) -> None:
        self._conversations = conversations
        self._companies = companies
        self._log = log
        self._looks = looks
        self._clock = clock
        self._usual = usual
        self._give = give
        self._waits: dict[str, tuple[datetime, timedelta | None]] = {}
        """The usual wait in each company, and when it was measured."""
        self._anything = False
        self._giving = asyncio.Lock()
        """Who is next in turn is known when the one before has been given."""
        self._queues: dict[str, asyncio.Task[list[str]]] = {}
        """Who waits in each company, as it is read once for those who are looked at together."""

    async def look(self) -> bool:
        """Sweeps; returns whether there was or will soon be something to look at."""
        await self.sweep()
        return self._anything

    async def measure(self) -> None:
        """Sets the figures of the queue; raises StoreUnavailableError."""
        count, since = await self._conversations.queue()
        HANDOVERS.set(count)
        HANDOVER_OLDEST.set((await self._clock()).timestamp() - since / 1000 if since else 0)

    async def sweep(self) -> int:
        """Gives back what is due; returns how many facts this replica appended."""
        appended = 0
        for _ in range(QUERIES):
            found = await self._found(SOON)
            self._anything = bool(found)
            appended += await self._look_at_all(found)
            if len(found) < LIMIT:
                break
        return appended

    async def _look_at_all(self, found: list[tuple[InboxConversation, int]]) -> int:
        now_ms, configs = milliseconds(await self._clock()), dict[str, CompanyConfig]()
        if len(found) == LIMIT:
            # Many are looked at again: who has just begun to wait has a turn meanwhile.
            newest = await self._conversations.to_look_at(now_ms, NEWEST, latest_first=True)
            known = {(state.company, state.conversation) for state, _ in newest}
            found = [*newest, *(one for one in found if (one[0].company, one[0].conversation) not in known)]
        due = [(state, due_ms) for state, due_ms in found if due_ms <= now_ms]
        # Read behind the conversations: a change that came before them is seen, a later one sets them back.
        for company in {state.company for state, _ in due}:
            configs[company] = await self._config(company)
        self._queues.clear()
        appended = 0
        for some in (due[start : start + AT_ONCE] for start in range(0, len(due), AT_ONCE)):
            settled = await asyncio.gather(*(self._look_at(state, configs[state.company]) for state, _ in some))
            appended += sum(one.appended for one in settled)
            await self._conversations.looked_at(
                [
                    (state, due_ms, milliseconds(one.again) if one.again else None)
                    for (state, due_ms), one in zip(some, settled, strict=True)
                ]
            )
        return appended

    async def due(self) -> list[tuple[str, str]]:
        """Companies and conversations that are due by the store."""
        return [(state.company, state.conversation) for state, _ in await self._found(timedelta())]

    async def _found(self, ahead: timedelta) -> list[tuple[InboxConversation, int]]:
        return await self._conversations.to_look_at(milliseconds(await self._clock() + ahead), LIMIT)

    async def _look_at(self, state: InboxConversation, config: CompanyConfig) -> Settled:
        try:
            return await self._settle_or_wait(state, config)
        except NexusError as error:
            # One conversation that cannot be read must not keep the others waiting.
            _log.warning(
                "not given back", company=state.company, conversation=state.conversation, error=str(error)[:300]
            )
            return Settled(0, await self._clock() + SOON)

    async def _settle_or_wait(self, state: InboxConversation, config: CompanyConfig) -> Settled:
        if state.due_since is None:
            return Settled(0, None)
        now, patience = await self._clock(), _patience(config)
        given = None
        try:
            if config.assignment == IN_TURN:
                async with self._giving:
                    given = await self._give(state, now)
        except NexusError as error:
            _log.warning("not given", company=state.company, conversation=state.conversation, error=str(error)[:300])
            given = now + SOON
        earliest = _earliest(state, patience, now)
        if not state.needs_notice and now < earliest:
            settled = Settled(0, earliest)
        else:
            settled = await self.settle(state.company, state.conversation, patience)
        return Settled(settled.appended, min(filter(None, (given, settled.again)), default=None))

    async def settle(self, company: str, conversation: str, patience: Patience) -> Settled:
        """Appends what is due in one conversation: both facts, one, or none."""
        again: datetime | None = None

        async def due(snapshot: Snapshot) -> NewFact | None:
            nonlocal again
            now = await self._clock()
            absence = await self._absence(company, conversation, snapshot)
            place = await self._queue_place(company, conversation, snapshot, now)
            decision = decide(snapshot, LogPlace(company, conversation, self._log.era), patience, now, absence, place)
            again = decision.at if isinstance(decision, NotYet) else None
            return fact_of(decision)

        appended = 0
        for _ in range(MOST_AT_ONCE):
            try:
                stored = await self._log.append_if(company, conversation, due)
            except ConversationBusyError:
                _log.warning(
                    "a conversation kept moving while it was given back", company=company, conversation=conversation
                )
                break
            if stored is None:
                return Settled(appended, again)
            appended += not stored.duplicate
        return Settled(appended, await self._clock() + SOON)

    async def _queue_place(
        self, company: str, conversation: str, snapshot: Snapshot, now: datetime
    ) -> QueuePlace | None:
        """The place in the queue of somebody who is still to be told it."""
        owner = snapshot.last.get(ChatKind.OWNER)
        if owner is None or snapshot.owner is not OwnerKind.WAITING or is_superseded_notice(snapshot, owner):
            return None
        if company not in self._queues:
            self._queues[company] = asyncio.create_task(self._conversations.waiting(company))
        key = waiting_key(company, conversation, LogPosition(self._log.era, owner.seq))
        return QueuePlace(
            1 + bisect_left(await self._queues[company], key),
            await self._usual_wait(company, now),
            await self._staffed(company, now, owner.stored_at),
        )

    async def _usual_wait(self, company: str, now: datetime) -> timedelta | None:
        measured = self._waits.get(company)
        if measured is not None and now - measured[0] < (MEASURED_FOR if measured[1] else AGAIN):
            return measured[1]
        try:
            usual = await self._usual(company)
        except StoreUnavailableError:
            # Their place is told all the same, without a usual wait.
            return None
        self._waits[company] = (now, usual)
        return usual

    async def _staffed(self, company: str, now: datetime, waiting_since: datetime) -> bool | None:
        try:
            here = await self._looks.somebody_here(company, now - AT_DESK)
        except RedisUnavailableError:
            return True  # who cannot be asked is not said to be away
        # Open consoles report who is there once somebody waits.
        return here if here or now >= waiting_since + ROLL_CALL else None

    async def _absence(self, company: str, conversation: str, snapshot: Snapshot) -> Absence | None:
        waiting = unreplied_range(snapshot)
        if waiting is None:
            return None
        facts = await self._log.read(company, conversation, *waiting)
        first = next((fact for fact in facts if fact.kind is ChatKind.VISITOR), snapshot.last[ChatKind.VISITOR])
        operator = snapshot.owner_data.get("operatorId")
        try:
            looked = await self._looks.last(company, conversation, operator) if operator else None
        except RedisUnavailableError:
            # If nobody knows whether the owner reads, the visitor must not be left waiting.
            looked = None
        return Absence(first.stored_at, looked)

    async def _config(self, company: str) -> CompanyConfig:
        settings = await self._companies.get(company)
        return settings.config if settings else DEFAULTS


def _patience(config: CompanyConfig) -> Patience:
    return Patience(
        handoff=timedelta(seconds=config.handoff_timeout_seconds),
        idle=timedelta(minutes=config.owner_idle_minutes),
        idle_to=OwnerKind.AI if config.owner_idle_action == "ai" else OwnerKind.WAITING,
        hours=config.office_hours,
        ai=config.ai_auto_response_enabled,
    )


def _earliest(state: InboxConversation, patience: Patience, now: datetime) -> datetime:
    since = state.due_since or now
    match state.ownership.owner.kind:
        case OwnerKind.WAITING:
            return since + patience.handoff
        case OwnerKind.HUMAN:
            return since + patience.idle
        case OwnerKind.AI:
            return now


def fact_of(decision: Decision) -> NewFact | None:
    """The fact that a decision appends; None: nothing."""
    match decision:
        case GiveBack(event_id=event_id, to=to, reason=reason, opens_at=opens_at, language=language):
            back = OwnerChanged(owner=Owner(kind=to), by=BY, reason=reason, opens_at=opens_at, language=language)
            return NewFact(ChatKind.OWNER, back, event_id, event_id)
        case Notify(event_id=event_id, basis=basis, code=code, text=text):
            notice = SystemMessage(message_id=event_id, text=text, code=code, basis=basis)
            return NewFact(ChatKind.SYSTEM, notice, event_id, event_id)
        case _:
            return None
