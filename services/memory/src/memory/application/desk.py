"""The desk: stores human agents' changes as facts in FACTS, and applies them to their conversations."""

from dataclasses import replace
from datetime import datetime, timedelta

import structlog

from contracts.conversation_rpc import ConversationRef, ConversationView
from contracts.desk_rpc import (
    ConversationUpdate,
    DeskChange,
    NamedReply,
    NamedRequest,
    NoteRequest,
    NotesReply,
    NoteView,
)
from contracts.errors import NexusError
from contracts.events.chat import OwnerKind
from contracts.events.desk import ConversationUpdated, NoteAdded, Reason, Status
from contracts.ids import derive_id
from memory.adapters.chat_log import StreamLog
from memory.adapters.desk_facts import BusDeskFacts
from memory.adapters.mongo_companies import MongoCompanies
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_desk import MongoDesk
from memory.adapters.redis_looks import RedisLooks
from memory.application.inbox import Inbox, conversation_view
from memory.domain import handoff
from memory.domain.conversation import NEEDS_HUMAN, InboxConversation
from memory.domain.desk import (
    BY,
    CONFIRMED,
    IN_TURN,
    OPEN,
    RESOLVED,
    SILENCE,
    WOKE,
    Update,
    fold_updates,
    mention_names,
    mentions,
    note_view,
)
from memory.domain.handoff import ROLL_CALL
from memory.domain.keys import LogPosition, milliseconds
from memory.errors import AssignedMeanwhileError, NoSuchConversationError, RedisUnavailableError, StoreUnavailableError
from memory.ports import LogClock

ATTEMPTS = 10
"""Tries to store a conversation that the projection changes too."""
LIMIT = 200
"""Conversations handled by one run of a sweep."""
COMPANIES = 200
AT_DESK = timedelta(minutes=3)
"""Seconds for which a human agent who reported being at the desk counts as there."""

_log = structlog.get_logger(__name__)


class Desk:
    """The use cases of the desk."""

    def __init__(
        self,
        *,
        store: MongoDesk,
        facts: BusDeskFacts,
        conversations: MongoConversations,
        companies: MongoCompanies,
        inbox: Inbox,
        looks: RedisLooks,
        log: StreamLog,
        clock: LogClock,
    ) -> None:
        self._looks = looks
        self._store = store
        self._facts = facts
        self._conversations = conversations
        self._companies = companies
        self._inbox = inbox
        self._log = log
        self._clock = clock
        self._quiet_from = ""

    # ---------------------------------------------------------------- what people do

    async def update(self, wanted: ConversationUpdate) -> ConversationView:
        """Applies a change, and returns the conversation after it.

        Raises:
            NoSuchConversationError: nobody has written in it.
            AssignedMeanwhileError: it is assigned to somebody other than the caller expects.
        """
        await self._inbox.fresh()
        company, conversation = wanted.company_id, wanted.conversation_id
        state = await self._load(company, conversation)
        if state.started_at is None and not wanted.begins:
            raise NoSuchConversationError("there is no such conversation")
        if wanted.expected_assignee is not None and (state.assignee[0] or "") != wanted.expected_assignee:
            raise AssignedMeanwhileError(
                f"{state.assignee[1] or state.assignee[0] or 'nobody'} has the conversation now"
            )
        basis = self._known(state) if wanted.seen_seq is None else self._seen(state, wanted.by, wanted.seen_seq)
        data = ConversationUpdated.model_validate({**dict(wanted), "basis": basis})
        return conversation_view(await self._publish(wanted.update_id, data))

    async def note(self, wanted: NoteRequest) -> NoteView:
        """Adds a private note; returns the existing one of the same id, if any."""
        data = NoteAdded.model_validate({**dict(wanted), "mentions": mentions(wanted.text)})
        place = await self._facts.noted(data)
        kept = None
        try:
            await self._store.add_note(place, data)
            kept = await self._store.note(data.company_id, data.conversation_id, data.note_id)
        except StoreUnavailableError as error:
            # It is on the bus, and the store will get it from there: after a refusal it would be written twice.
            _log.warning("a note is stored later", company=data.company_id, note=data.note_id, error=str(error)[:300])
        return kept or note_view(place, data)

    async def named(self, wanted: NamedRequest) -> NamedReply:
        """The notes that mention a human agent, and which of them are new."""
        company, operator = wanted.company_id, wanted.operator_id
        found = await self._store.named(company, mention_names(operator, wanted.operator_name), operator)
        try:
            if wanted.seen_up_to is not None:
                await self._looks.note_mentions_seen(company, operator, wanted.seen_up_to)
            seen = await self._looks.mentions_seen_until(company, operator)
        except RedisUnavailableError:
            return NamedReply(items=found)
        new = [one.model_copy(update={"unseen": _ms(one.note.created_at) > seen}) for one in found]
        return NamedReply(items=new)

    async def named_new(self, company: str, operator: str, name: str | None) -> int | None:
        """Counts the new notes that mention the human agent; None if that is unknown."""
        try:
            seen = await self._looks.mentions_seen_until(company, operator)
        except RedisUnavailableError:
            return None
        return len(await self._store.named(company, mention_names(operator, name), operator, seen))

    async def notes(self, asked: ConversationRef) -> NotesReply:
        """A conversation's notes and desk changes."""
        notes = await self._store.notes(asked.company_id, asked.conversation_id)
        updates = await self._store.updates(asked.company_id, asked.conversation_id)
        return NotesReply(items=notes, changes=[_change(update) for update in updates])

    # ---------------------------------------------------------------- what the bus tells

    async def take_update(self, update: Update) -> InboxConversation:
        """Applies an update; applying it again changes nothing.

        Raises:
            StoreUnavailableError: try again later.
        """
        company, conversation = update.data.company_id, update.data.conversation_id
        await self._store.add_update(update)
        for _ in range(ATTEMPTS):
            # The updates are read behind the state: whoever stores one over this state has seen fewer of them.
            state = await self._load(company, conversation)
            desk = fold_updates(await self._store.updates(company, conversation), self._log.era)
            if state.version and state.desk == desk:
                return state
            changed = replace(state, desk=desk)
            if saved := await self._conversations.save([changed]):
                return saved[0]
        raise StoreUnavailableError("the conversation kept changing while it was updated: it is tried again")

    async def take_note(self, place: LogPosition, note: NoteAdded) -> None:
        """Stores a note; storing it again changes nothing."""
        await self._store.add_note(place, note)

    # ---------------------------------------------------------------- what time does

    async def sweep(self) -> int:
        """Reopens snoozed conversations whose time has come, and resolves those whose visitor said farewell."""
        now = await self._clock()
        due = await self._conversations.due(milliseconds(now), LIMIT)
        for state in due:
            if state.wakes_at is not None:
                await self._settle(state, OPEN, WOKE)
            elif state.is_over:
                await self._settle(state, RESOLVED, CONFIRMED)
        return len(due)

    async def at_desk(self, company: str, operator: str, name: str | None) -> None:
        """Records that a human agent is at the desk, if possible. If nobody was there before, those who wait for
        somebody in turn are looked at again."""
        now = await self._clock()
        try:
            alone = await self._looks.at_desk(company, operator, name, now, now - AT_DESK)
        except RedisUnavailableError:
            return
        if alone and await self._in_turn(company):
            await self._conversations.look_again(company, NEEDS_HUMAN)

    async def _in_turn(self, company: str) -> bool:
        settings = await self._companies.get(company)
        return settings is not None and settings.config.assignment == IN_TURN

    async def give_in_turn(self, state: InboxConversation, now: datetime) -> datetime | None:
        """Assigns a waiting conversation without an assignee to the next of the people at the desk. Returns when to
        look again; None: nothing is left to do before somebody comes to the desk or the conversation changes.

        Raises:
            RedisUnavailableError; NexusError: it was not assigned.
        """
        since = state.waiting_since
        if since is None or not _wants_somebody(state):
            return None
        if since > now - ROLL_CALL:
            return since + ROLL_CALL
        wait = str(state.ownership.position)
        chosen = await self._looks.next_in_turn(state.company, state.conversation, wait, now - AT_DESK)
        if chosen is not None:
            operator, name = chosen
            data = ConversationUpdated(
                company_id=state.company,
                conversation_id=state.conversation,
                assignee=operator,
                assignee_name=name or None,
                basis=self._known(state),
                by=BY,
                reason=IN_TURN,
            )
            await self._publish(derive_id(state.company, state.conversation, "desk", IN_TURN, wait), data)
        return None

    async def sweep_quiet(self) -> int:
        """Resolves conversations in which nobody has written for long enough after an answer, company by company."""
        now = await self._clock()
        companies = await self._companies.after(self._quiet_from, COMPANIES)
        self._quiet_from = companies[-1].config.company_id if len(companies) == COMPANIES else ""
        settled = 0
        for settings in companies:
            hours = settings.config.resolve_after_hours
            if hours:
                settled += await self._resolve_quiet(settings.config.company_id, now - timedelta(hours=hours))
        return settled

    async def _resolve_quiet(self, company: str, until: datetime) -> int:
        quiet = await self._conversations.quiet(company, milliseconds(until), LIMIT)
        for state in quiet:
            if state.quiet_since is not None:
                await self._settle(state, RESOLVED, SILENCE)
        return len(quiet)

    async def _settle(self, state: InboxConversation, to: Status, reason: Reason) -> None:
        """Publishes an update under an id that is the same for every replica and repeat."""
        since = state.desk.state_since
        what = (str(state.latest), str(since.at) if since else "", to, reason)
        data = ConversationUpdated(
            company_id=state.company,
            conversation_id=state.conversation,
            state=to,
            basis=self._known(state),
            by=BY,
            reason=reason,
        )
        try:
            await self._publish(derive_id(state.company, state.conversation, "desk", *what), data)
        except NexusError as error:
            _log.warning("not settled", company=state.company, conversation=state.conversation, error=str(error)[:300])

    def _known(self, state: InboxConversation) -> int:
        """Its newest fact in the present log."""
        return state.latest.seq if state.latest.era == self._log.era else 0

    def _seen(self, state: InboxConversation, by: str, seen: int) -> int:
        """The newest fact that the caller knows, or the conversation's newest if nothing since then is news to them.
        Their own take-over is no news."""
        own = state.ownership.owner.operator_id == by
        news = state.seen_position if own else max(state.seen_position, state.claimed)
        known = self._known(state)
        return min(known, seen) if news.era == self._log.era and news.seq > seen else known

    async def _publish(self, update_id: str, data: ConversationUpdated) -> InboxConversation:
        place = await self._facts.updated(update_id, data)
        return await self.take_update(Update(update_id, place, data))

    async def _load(self, company: str, conversation: str) -> InboxConversation:
        found = await self._conversations.get(company, conversation)
        return found or InboxConversation(company, conversation)


def _wants_somebody(state: InboxConversation) -> bool:
    """Whether it waits for a person and has no assignee; the assignee of an owner who has left is replaced."""
    own, assigned = state.ownership, state.desk.assigned
    before = assigned is not None and assigned.before(own.position, own.since)
    return own.owner.kind == OwnerKind.WAITING and (
        state.assignee[0] is None or (before and own.reason == handoff.IDLE)
    )


def _ms(at: datetime) -> int:
    return round(at.timestamp() * 1000)


def _change(update: Update) -> DeskChange:
    return DeskChange.model_validate({**dict(update.data), "id": update.id, "created_at": update.at})
