"""Takes conversations back that wait for a person in vain or whose owner has left: exactly once, whichever replica
does it."""

import asyncio
from bisect import bisect_left
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

import structlog

from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.conversation import Snapshot
from contracts.errors import NexusError
from contracts.events.chat import Owner, OwnerChanged, OwnerKind, SystemMessage, Wait
from contracts.json_values import object_of
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations, waiting_key
from memory.adapters.redis_looks import RedisLooks
from memory.application.desk import AT_DESK_FOR
from memory.domain import handoff
from memory.domain.conversation import InboxConversation
from memory.domain.desk import IN_TURN
from memory.domain.keys import LogPosition, milliseconds
from memory.errors import RedisUnavailableError, StoreUnavailableError
from memory.metrics import HANDOVER_OLDEST, HANDOVERS
from memory.ports import LogClock
from runtime.conversation import NewFact
from runtime.errors import ConversationBusyError

DEFAULT_CONFIG = CompanyConfig(company_id="default", ai_auto_response_enabled=True)
BATCH = 200
"""Conversations that one query of a sweep reads at most."""
QUERIES_PER_SWEEP = 10
"""Queries in one sweep at most."""
CONCURRENCY = 10
"""Conversations that are checked concurrently."""
NEWEST_FIRST = 20
"""If more than BATCH conversations are due, this many of the newest are checked before the others."""
MAX_APPENDS = 6
"""Facts appended to a conversation in one pass at most: usually a change of owner and its notice."""
USUAL_WAIT_TTL = timedelta(minutes=5)
UNKNOWN_WAIT_TTL = timedelta(seconds=30)
"""How long an unknown usual wait is cached; a known one is cached for USUAL_WAIT_TTL."""
RETRY_DELAY = timedelta(seconds=5)
"""When to check a conversation again that could not be read or kept changing. Also how far ahead the sweep looks: with
something due so soon it does not slow down."""

_log = structlog.get_logger(__name__)


class Settled(NamedTuple):
    """The number of facts appended to a conversation, and when to check it again; None: not before it changes."""

    appended: int
    again: datetime | None


@dataclass(slots=True, kw_only=True)
class Handoffs:
    """The sweep over waiting conversations. The store lists what is due and when; the log and its fence decide.

    A conversation is read when it begins to wait, and after that only when something is due in it: one that waits
    without a limit costs nothing and does not delay others. `measure_usual_wait` returns a company's usual wait, None
    if it is unknown; `assign_in_turn`: see Desk.assign_in_turn.
    """

    conversations: MongoConversations
    companies: MongoCompanies
    log: StreamLog
    looks: RedisLooks
    clock: LogClock
    measure_usual_wait: Callable[[str], Awaitable[timedelta | None]]
    assign_in_turn: Callable[[InboxConversation, datetime], Awaitable[datetime | None]]
    _usual_waits: dict[str, tuple[datetime, timedelta | None]] = field(init=False, default_factory=dict)
    """For each company, when its usual wait was measured, and the wait."""
    _has_work: bool = field(init=False, default=False)
    _assignment_lock: asyncio.Lock = field(init=False, default_factory=asyncio.Lock)
    """Assignments are made one after another, since each determines whose turn is next."""
    _queues: dict[str, asyncio.Task[list[str]]] = field(init=False, default_factory=dict)
    """Each company's waiting conversations, read once for all that are checked together."""

    async def look(self) -> bool:
        """Sweeps; returns whether something was or will soon be due."""
        await self.sweep()
        return self._has_work

    async def measure(self) -> None:
        """Sets the queue's metrics; raises StoreUnavailableError."""
        count, oldest_ms = await self.conversations.queue()
        HANDOVERS.set(count)
        HANDOVER_OLDEST.set((await self.clock()).timestamp() - oldest_ms / 1000 if oldest_ms else 0)

    async def sweep(self) -> int:
        """Settles the conversations that are due; returns how many facts this replica appended."""
        appended = 0
        for _ in range(QUERIES_PER_SWEEP):
            batch = await self.conversations.due_for_look(milliseconds(await self.clock() + RETRY_DELAY), BATCH)
            self._has_work = bool(batch)
            appended += await self._settle_all(batch)
            if len(batch) < BATCH:
                break
        return appended

    async def _settle_all(self, batch: list[tuple[InboxConversation, int]]) -> int:
        now_ms, configs = milliseconds(await self.clock()), dict[str, CompanyConfig]()
        if len(batch) == BATCH:
            # So many are checked that those who have just begun to wait go first.
            newest = await self.conversations.due_for_look(now_ms, NEWEST_FIRST, latest_first=True)
            newest_keys = {(state.company, state.conversation) for state, _ in newest}
            batch = [
                *newest,
                *(entry for entry in batch if (entry[0].company, entry[0].conversation) not in newest_keys),
            ]
        due = [(state, due_ms) for state, due_ms in batch if due_ms <= now_ms]
        # Read after the conversations: an earlier change is seen, and a later one makes them due again.
        for company in {state.company for state, _ in due}:
            configs[company] = await self._config(company)
        self._queues.clear()
        appended = 0
        for group in (due[start : start + CONCURRENCY] for start in range(0, len(due), CONCURRENCY)):
            settled = await asyncio.gather(*(self._settle_safely(state, configs[state.company]) for state, _ in group))
            appended += sum(outcome.appended for outcome in settled)
            await self.conversations.store_next_looks(
                [
                    (state, due_ms, milliseconds(outcome.again) if outcome.again else None)
                    for (state, due_ms), outcome in zip(group, settled, strict=True)
                ]
            )
        return appended

    async def _settle_safely(self, state: InboxConversation, config: CompanyConfig) -> Settled:
        try:
            return await self._settle_or_wait(state, config)
        except NexusError as error:
            # One conversation that cannot be read must not delay the others.
            _log.warning(
                "not given back", company=state.company, conversation=state.conversation, error=str(error)[:300]
            )
            return Settled(0, await self.clock() + RETRY_DELAY)

    async def _settle_or_wait(self, state: InboxConversation, config: CompanyConfig) -> Settled:
        if state.due_since is None:
            return Settled(0, None)
        now, policy = await self.clock(), _handoff_policy(config)
        assign_again = None
        try:
            if config.assignment == IN_TURN:
                async with self._assignment_lock:
                    assign_again = await self.assign_in_turn(state, now)
        except NexusError as error:
            _log.warning("not given", company=state.company, conversation=state.conversation, error=str(error)[:300])
            assign_again = now + RETRY_DELAY
        earliest = _earliest_decision(state, policy, now)
        if not state.needs_notice and now < earliest:
            settled = Settled(0, earliest)
        else:
            settled = await self.settle(state.company, state.conversation, policy)
        return Settled(settled.appended, min(filter(None, (assign_again, settled.again)), default=None))

    async def settle(self, company: str, conversation: str, policy: handoff.HandoffPolicy) -> Settled:
        """Appends what is due in one conversation: a change of owner, a notice, both or nothing."""
        check_at: datetime | None = None

        async def due(snapshot: Snapshot) -> NewFact | None:
            nonlocal check_at
            now = await self.clock()
            absence = await self._absence(company, conversation, snapshot)
            queue_place = await self._queue_place(company, conversation, snapshot, now)
            decision = handoff.decide(
                snapshot, handoff.LogPlace(company, conversation, self.log.era), policy, now, absence, queue_place
            )
            check_at = decision.at if isinstance(decision, handoff.NotYet) else None
            return fact_of(decision)

        appended = 0
        for _ in range(MAX_APPENDS):
            try:
                stored = await self.log.append_if(company, conversation, due)
            except ConversationBusyError:
                _log.warning(
                    "a conversation kept moving while it was given back", company=company, conversation=conversation
                )
                break
            if stored is None:
                return Settled(appended, check_at)
            appended += not stored.duplicate
        return Settled(appended, await self.clock() + RETRY_DELAY)

    async def _queue_place(
        self, company: str, conversation: str, snapshot: Snapshot, now: datetime
    ) -> handoff.QueuePlace | None:
        """The conversation's place in the queue; None unless it waits for a person and that notice is still to be
        sent."""
        owner = snapshot.last.get(ChatKind.OWNER)
        if owner is None or snapshot.owner is not OwnerKind.WAITING or handoff.is_superseded_notice(snapshot, owner):
            return None
        if company not in self._queues:
            self._queues[company] = asyncio.create_task(self.conversations.waiting(company))
        wait_seq = object_of(owner.data.get("wait")).get("seq")
        place = LogPosition(self.log.era, wait_seq if isinstance(wait_seq, int) else owner.seq)
        key = waiting_key(company, conversation, place)
        return handoff.QueuePlace(
            1 + bisect_left(await self._queues[company], key),
            await self._usual_wait(company, now),
            await self._has_staff(company, now, owner.stored_at),
        )

    async def _usual_wait(self, company: str, now: datetime) -> timedelta | None:
        cached = self._usual_waits.get(company)
        if cached is not None and now - cached[0] < (USUAL_WAIT_TTL if cached[1] else UNKNOWN_WAIT_TTL):
            return cached[1]
        try:
            usual_wait = await self.measure_usual_wait(company)
        except StoreUnavailableError:
            # The notice gives their place all the same, without a usual wait.
            return None
        self._usual_waits[company] = (now, usual_wait)
        return usual_wait

    async def _has_staff(self, company: str, now: datetime, waiting_since: datetime) -> bool | None:
        try:
            has_staff = await self.looks.is_anybody_here(company, now - AT_DESK_FOR)
        except RedisUnavailableError:
            return True  # without evidence, people are not reported as away
        # Open consoles report their human agents only once somebody waits.
        return has_staff if has_staff or now >= waiting_since + handoff.ROLL_CALL else None

    async def _absence(self, company: str, conversation: str, snapshot: Snapshot) -> handoff.Absence | None:
        seq_range = handoff.unreplied_range(snapshot)
        if seq_range is None:
            return None
        facts = await self.log.read(company, conversation, *seq_range)
        first = next((fact for fact in facts if fact.kind is ChatKind.VISITOR), snapshot.last[ChatKind.VISITOR])
        operator = snapshot.owner_data.get("operatorId")
        try:
            last_look = await self.looks.last(company, conversation, operator) if operator else None
        except RedisUnavailableError:
            # If it is unknown whether the owner reads, the visitor must not be left waiting.
            last_look = None
        return handoff.Absence(Wait(seq=first.seq, since=first.stored_at), last_look)

    async def _config(self, company: str) -> CompanyConfig:
        settings = await self.companies.get(company)
        return settings.config if settings else DEFAULT_CONFIG


def _handoff_policy(config: CompanyConfig) -> handoff.HandoffPolicy:
    return handoff.HandoffPolicy(
        handoff=timedelta(seconds=config.handoff_timeout_seconds),
        idle=timedelta(minutes=config.owner_idle_minutes),
        idle_to=OwnerKind.AI if config.owner_idle_action == "ai" else OwnerKind.WAITING,
        hours=config.office_hours,
        ai=config.ai_auto_response_enabled,
        left_at=config.team.left_at,
    )


def _earliest_decision(state: InboxConversation, policy: handoff.HandoffPolicy, now: datetime) -> datetime:
    start = state.due_since or now
    match state.ownership.owner.kind:
        case OwnerKind.WAITING:
            return start + policy.handoff
        case OwnerKind.HUMAN:
            return start if state.ownership.owner.operator_id in policy.left_at else start + policy.idle
        case OwnerKind.AI:
            return now


def fact_of(decision: handoff.Decision) -> NewFact | None:
    """The fact that a decision appends; None if it appends nothing."""
    match decision:
        case handoff.GiveBack() as back:
            change = OwnerChanged(
                owner=Owner(kind=back.to),
                by=handoff.BY,
                reason=back.reason,
                opens_at=back.opens_at,
                language=back.language,
                wait=back.wait,
            )
            return NewFact(ChatKind.OWNER, change, back.event_id, back.event_id)
        case handoff.Notify(event_id=event_id, basis=basis, code=code, text=text):
            notice = SystemMessage(message_id=event_id, text=text, code=code, basis=basis)
            return NewFact(ChatKind.SYSTEM, notice, event_id, event_id)
        case _:
            return None
