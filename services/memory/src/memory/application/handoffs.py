"""Conversations that wait for a person in vain, or whose owner has left, continue without them: exactly once,
whichever replica watches."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta

import structlog

from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.conversation import Snapshot
from contracts.errors import NexusError
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage
from contracts.ids import place_in_channel
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.redis_looks import RedisLooks
from memory.application.desk import AT_DESK, ROLL_CALL
from memory.domain.conversation import InboxConversation
from memory.domain.handoff import (
    BY,
    Absence,
    Decision,
    GiveBack,
    LogPlace,
    Notify,
    NotYet,
    Patience,
    QueuePlace,
    decide,
    unreplied,
)
from memory.errors import RedisUnavailableError, StoreUnavailableError
from memory.metrics import HANDOVER_OLDEST, HANDOVERS
from memory.ports import LogClock
from runtime.conversation import NewFact
from runtime.errors import ConversationBusyError

DEFAULTS = CompanyConfig(company_id="default", ai_auto_response_enabled=True)
LIMIT = 2_000
"""Waiting conversations that one sweep examines: far more than people can keep waiting."""
MOST_AT_ONCE = 6
"""Facts appended to a conversation in one pass: usually a change of owner and its notice."""
MEASURED_FOR = timedelta(minutes=5)
AGAIN = timedelta(seconds=30)
"""When to look again, at the latest, at a conversation that is due by the store but not by the log: the store may be
slightly behind, and the company may change its settings."""

_log = structlog.get_logger(__name__)
Key = tuple[str, str]


class Handoffs:
    """The sweep over waiting conversations. The store only says where to look; the log and its fence decide."""

    def __init__(
        self,
        *,
        conversations: MongoConversations,
        companies: MongoCompanies,
        log: StreamLog,
        looks: RedisLooks,
        clock: LogClock,
        usual: Callable[[str], Awaitable[timedelta | None]],
    ) -> None:
        self._conversations = conversations
        self._companies = companies
        self._log = log
        self._looks = looks
        self._clock = clock
        self._usual = usual
        self._waits: dict[str, tuple[datetime, timedelta | None]] = {}
        """The usual wait in each company, and when it was measured."""
        self._not_before: dict[Key, datetime] = {}
        """When to examine each owned conversation next, so that a busy shift is not read every second."""
        self._anybody = False
        self._places: dict[Key, int] = {}
        """Each waiting conversation's place in its company's queue, as of the last look."""

    async def look(self) -> bool:
        """Sweeps; returns whether anybody waits, for a person or for a notice of who answers."""
        await self.sweep()
        return self._anybody

    async def sweep(self) -> int:
        """Gives back what is due; returns how many facts this replica appended."""
        appended = 0
        for company, conversation, patience in await self.due():
            try:
                appended += await self.settle(company, conversation, patience)
            except NexusError as error:
                # One conversation that cannot be read must not keep the others waiting.
                _log.warning("not given back", company=company, conversation=conversation, error=str(error)[:300])
        return appended

    async def due(self) -> list[tuple[str, str, Patience]]:
        """Companies and conversations that are due by the store, and the companies' patience."""
        patience: dict[str, Patience] = {}
        now = await self._clock()
        found: list[tuple[str, str, Patience]] = []
        found_waiting = await self._conversations.waiting(LIMIT)
        self._anybody = bool(found_waiting)
        # Who has a channel's conversation is decided in the channel, which also gives it back.
        waiting = [one for one in found_waiting if place_in_channel(one.company, one.conversation) is None]
        since = [state.waiting_since for state in waiting if state.waiting_since is not None]
        HANDOVERS.set(len(since))
        HANDOVER_OLDEST.set((now - min(since, default=now)).total_seconds())
        self._places = _places(waiting)
        known = {(state.company, state.conversation) for state in waiting}
        self._not_before = {key: at for key, at in self._not_before.items() if key in known}
        for state in waiting:
            key = (state.company, state.conversation)
            if not state.untold and now < self._not_before.get(key, now):
                continue
            if state.company not in patience:
                patience[state.company] = await self._patience(state.company)
            if state.untold or now >= _earliest(state, patience[state.company], now):
                found.append((*key, patience[state.company]))
        return found

    async def settle(self, company: str, conversation: str, patience: Patience) -> int:
        """Appends what is due in one conversation: both facts, one, or none."""

        async def due(snapshot: Snapshot) -> NewFact | None:
            now = await self._clock()
            absence = await self._absence(company, conversation, snapshot)
            standing = None
            if snapshot.owner is OwnerKind.WAITING:
                standing = QueuePlace(
                    self._places.get((company, conversation), 1),
                    await self._usual_wait(company, now),
                    await self._staffed(company, now, snapshot.last[ChatKind.OWNER].stored_at),
                )
            decision = decide(
                snapshot, LogPlace(company, conversation, self._log.era), patience, now, absence, standing
            )
            fact = fact_of(decision)
            if fact is None and snapshot.owner is not OwnerKind.AI:
                self._not_before[company, conversation] = min(_next_look(decision, now), now + AGAIN)
            return fact

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
                break
            appended += not stored.duplicate
        return appended

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
        waiting = unreplied(snapshot)
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

    async def _patience(self, company: str) -> Patience:
        settings = await self._companies.get(company)
        config = settings.config if settings else DEFAULTS
        return Patience(
            handoff=timedelta(seconds=config.handoff_timeout_seconds),
            idle=timedelta(minutes=config.owner_idle_minutes),
            idle_to=OwnerKind.AI if config.owner_idle_action == "ai" else OwnerKind.WAITING,
            hours=config.office_hours,
            ai=config.ai_auto_response_enabled,
        )


def _places(waiting: Sequence[InboxConversation]) -> dict[Key, int]:
    """Each company's queue, counted from 1, longest wait first."""
    places: dict[Key, int] = {}
    queues: Counter[str] = Counter()
    since = [(state.waiting_since, state) for state in waiting]
    for _, state in sorted(((at, one) for at, one in since if at is not None), key=lambda pair: pair[0]):
        queues[state.company] += 1
        places[state.company, state.conversation] = queues[state.company]
    return places


def _earliest(state: InboxConversation, patience: Patience, now: datetime) -> datetime:
    since = state.due_since or now
    match state.ownership.owner.kind:
        case OwnerKind.WAITING:
            return since + patience.handoff
        case OwnerKind.HUMAN:
            return since + patience.idle
        case OwnerKind.AI:
            return now


def _next_look(decision: Decision, now: datetime) -> datetime:
    return decision.at if isinstance(decision, NotYet) else now + AGAIN


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
