"""The desk: stores human agents' changes as facts in FACTS, and applies them to their conversations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from contracts import desk_rpc
from contracts.channels import ChatKind
from contracts.company import CompanyConfig
from contracts.conversation import Snapshot
from contracts.conversation_rpc import ConversationRef, ConversationView
from contracts.errors import NexusError
from contracts.events.chat import Owner, OwnerChanged, OwnerKind
from contracts.events.desk import ConversationUpdated, NoteAdded, Reason, Status
from contracts.ids import derive_id, place_in_channel
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
    LEFT,
    OPEN,
    RESOLVED,
    SILENCE,
    WOKE,
    Update,
    changed_labels,
    fold_updates,
    mention_names,
    mentions,
    note_view,
)
from memory.domain.handoff import ROLL_CALL
from memory.domain.inbox_index import InboxQuery
from memory.domain.keys import milliseconds
from memory.errors import ConflictError, NotFoundError, RedisUnavailableError, StoreUnavailableError
from memory.ports import LogClock
from runtime.conversation import NewFact

ATTEMPTS = 10
"""How often storing a conversation is tried while the projection changes it too."""
SWEEP_BATCH = 200
"""Conversations handled by one run of a sweep."""
COMPANIES_PER_SWEEP = 200
LEAVERS_PERIOD = timedelta(days=45)
"""For this long after somebody has left, conversations that open again are taken from them."""
SETTLED_BY = ("state", "snoozed_until", "assignee")
"""What a person may have changed since the service decided on a change of its own, which is left out then."""
AT_DESK_FOR = timedelta(minutes=3)
"""How long a human agent who reported being at the desk counts as being there."""

_log = structlog.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class Desk:
    """What human agents do at the desk, and what happens to conversations by time."""

    store: MongoDesk
    facts: BusDeskFacts
    conversations: MongoConversations
    companies: MongoCompanies
    inbox: Inbox
    looks: RedisLooks
    log: StreamLog
    clock: LogClock
    _quiet_from: str = field(init=False, default="")

    # ---------------------------------------------------------------- by human agents

    async def update(self, change: desk_rpc.ConversationUpdate) -> ConversationView:
        """Applies a change, and returns the conversation after it.

        Raises:
            NotFoundError: nobody has written in it.
            ConflictError: it is assigned to somebody other than the caller expects.
            BadFieldsError: it would have too many labels.
        """
        await self.inbox.fresh()

        def decide(state: InboxConversation) -> ConversationUpdated:
            if state.started_at is None and not change.begins:
                raise NotFoundError("there is no such conversation")
            if change.expected_assignee is not None and (state.assignee[0] or "") != change.expected_assignee:
                raise ConflictError(f"{state.assignee[1] or state.assignee[0] or 'nobody'} has the conversation now")
            seen = change.seen_seq
            basis = self._newest_seq(state) if seen is None else self._basis_of(state, change.by, seen)
            labels = changed_labels(state.desk.labels, change)
            return ConversationUpdated.model_validate({**dict(change), "labels": labels, "basis": basis})

        return conversation_view(
            await self._publish(change.company_id, change.conversation_id, change.update_id, decide)
        )

    async def note(self, request: desk_rpc.NoteRequest) -> desk_rpc.NoteReply:
        """Adds an internal note; if one of the same id exists, that one is returned."""
        data = NoteAdded.model_validate({**dict(request), "mentions": mentions(request.text)})
        position = await self.facts.publish_note(data)
        stored = None
        try:
            await self.store.add_note(position, data)
            stored = await self.store.note(data.company_id, data.conversation_id, data.note_id)
        except StoreUnavailableError as error:
            # The note is on the bus, and the store gets it from there. After an error its author would write it again.
            _log.warning("a note is stored later", company=data.company_id, note=data.note_id, error=str(error)[:300])
        return desk_rpc.NoteReply(note=stored or note_view(position, data))

    async def named(self, request: desk_rpc.NamedRequest) -> desk_rpc.NamedReply:
        """Returns the notes that mention a human agent, and which of them are new."""
        company, operator = request.company_id, request.operator_id
        notes = await self.store.named(company, mention_names(operator, request.operator_name), operator)
        try:
            if request.seen_up_to is not None:
                await self.looks.note_mentions_seen(company, operator, request.seen_up_to)
            seen_until = await self.looks.mentions_seen_until(company, operator)
        except RedisUnavailableError:
            return desk_rpc.NamedReply(items=notes)
        items = [item.model_copy(update={"unseen": _ms(item.note.created_at) > seen_until}) for item in notes]
        return desk_rpc.NamedReply(items=items)

    async def count_new_mentions(self, company: str, operator: str, name: str | None) -> int | None:
        """Counts the new notes that mention the human agent; None if that cannot be determined."""
        try:
            seen_until = await self.looks.mentions_seen_until(company, operator)
        except RedisUnavailableError:
            return None
        return len(await self.store.named(company, mention_names(operator, name), operator, seen_until))

    async def notes(self, request: ConversationRef) -> desk_rpc.NotesReply:
        """Returns a conversation's notes and desk changes."""
        notes = await self.store.notes(request.company_id, request.conversation_id)
        updates = await self.store.updates(request.company_id, request.conversation_id)
        return desk_rpc.NotesReply(items=notes, changes=[_desk_change(update) for update in updates])

    # ---------------------------------------------------------------- from the bus

    async def apply_update(self, update: Update) -> InboxConversation:
        """Applies an update; applying it again changes nothing.

        Raises:
            StoreUnavailableError: try again later.
        """
        company, conversation = update.data.company_id, update.data.conversation_id
        await self.store.add_update(update)
        for _ in range(ATTEMPTS):
            # The updates are read after the state, so a writer who stores over this same state has not read more of
            # them.
            state = await self._load(company, conversation)
            desk = fold_updates(await self.store.updates(company, conversation), self.log.era)
            if state.version and state.desk == desk:
                return state
            changed = replace(state, desk=desk)
            if saved := await self.conversations.save([changed]):
                return saved[0]
        raise StoreUnavailableError("the conversation kept changing while it was updated: it is tried again")

    # ---------------------------------------------------------------- by time

    async def sweep(self) -> int:
        """Reopens snoozed conversations that are due, and resolves those whose visitor said farewell; returns how
        many."""
        now = await self.clock()
        due = await self.conversations.due(milliseconds(now), SWEEP_BATCH)
        for state in due:
            if state.wakes_at is not None:
                await self._settle(state, OPEN, WOKE)
            elif state.is_over:
                await self._settle(state, RESOLVED, CONFIRMED)
        return len(due)

    async def report_at_desk(self, company: str, operator: str, name: str | None) -> None:
        """Records that a human agent is at the desk, if Redis is available. If nobody was there before, waiting
        conversations of a company that assigns in turn are checked again."""
        now = await self.clock()
        try:
            is_first = await self.looks.at_desk(company, operator, name, now, now - AT_DESK_FOR)
        except RedisUnavailableError:
            return
        if is_first and await self._assigns_in_turn(company):
            await self.conversations.look_now(company, NEEDS_HUMAN)

    async def _assigns_in_turn(self, company: str) -> bool:
        settings = await self.companies.get(company)
        return settings is not None and settings.config.assignment == IN_TURN

    async def assign_in_turn(self, state: InboxConversation, now: datetime) -> datetime | None:
        """Assigns a waiting conversation without an assignee to the next human agent at the desk. Returns when to
        check again; None: not before somebody comes to the desk or the conversation changes.

        Raises:
            RedisUnavailableError; NexusError: it was not assigned.
        """
        waiting_since = state.waiting_since
        if waiting_since is None or not _needs_assignee(state):
            return None
        if waiting_since > now - ROLL_CALL:
            return waiting_since + ROLL_CALL
        wait_id = str(state.ownership.position)
        next_operator = await self.looks.next_in_turn(state.company, state.conversation, wait_id, now - AT_DESK_FOR)
        if next_operator is not None:
            operator, name = next_operator
            change = {"assignee": operator, "assignee_name": name or None, "reason": IN_TURN}
            await self._publish_own(
                state, derive_id(state.company, state.conversation, "desk", IN_TURN, wait_id), change
            )
        return None

    async def sweep_quiet(self) -> int:
        """Resolves conversations in which nobody has written for long enough after an answer, and takes those of
        leavers from them, company by company; returns how many."""
        now = await self.clock()
        companies = await self.companies.after(self._quiet_from, COMPANIES_PER_SWEEP)
        self._quiet_from = companies[-1].config.company_id if len(companies) == COMPANIES_PER_SWEEP else ""
        settled = 0
        for settings in companies:
            hours = settings.config.resolve_after_hours
            if hours:
                settled += await self._resolve_quiet(settings.config.company_id, now - timedelta(hours=hours))
            settled += await self._take_from_leavers(settings.config, now)
        return settled

    async def _resolve_quiet(self, company: str, quiet_since: datetime) -> int:
        quiet = await self.conversations.quiet(company, milliseconds(quiet_since), SWEEP_BATCH)
        for state in quiet:
            if state.quiet_since is not None:
                await self._settle(state, RESOLVED, SILENCE)
        return len(quiet)

    async def _take_from_leavers(self, config: CompanyConfig, now: datetime) -> int:
        """Takes the open conversations of human agents who have left the team from them; returns how many. They have
        left when they have been signed out, and not at the desk, for as long as an owner may be away."""
        company, taken = config.company_id, 0
        until = now - timedelta(minutes=config.owner_idle_minutes)
        for operator, left_at in config.team.left_at.items():
            if not until - LEAVERS_PERIOD < left_at <= until:
                continue
            page = await self.conversations.page(company, InboxQuery(assignee=operator), SWEEP_BATCH, None)
            try:
                if page.items and not await self.looks.was_here(company, operator, left_at):
                    for state in page.items:
                        await self._take_from(state, operator, left_at)
                        taken += 1
            except NexusError as error:
                _log.warning("not taken from a leaver", company=company, error=str(error)[:300])
        return taken

    async def _take_from(self, state: InboxConversation, operator: str, left_at: datetime) -> None:
        """Ends what one conversation has to do with a human agent who left then: the AI is its owner again if nobody
        waits for them (who waits is the hand-off sweep's), and it is assigned to nobody."""
        company, conversation = state.company, state.conversation

        async def give_back(snapshot: Snapshot) -> NewFact | None:
            owner = snapshot.last.get(ChatKind.OWNER)
            is_theirs = owner is not None and snapshot.owner_data.get("operatorId") == operator
            if owner is None or not is_theirs or owner.stored_at > left_at or handoff.unreplied_range(snapshot):
                return None
            event_id = handoff.LogPlace(company, conversation, self.log.era).event_id(owner, handoff.LEFT, "owner")
            change = OwnerChanged(owner=Owner(kind=OwnerKind.AI), by=BY, reason=handoff.LEFT)
            return NewFact(ChatKind.OWNER, change, event_id, event_id)

        if state.ownership.owner.operator_id == operator and place_in_channel(company, conversation) is None:
            await self.log.append_if(company, conversation, give_back)
        assigned = state.desk.assigned
        if state.desk.assignee == operator and assigned is not None and assigned.at <= left_at:
            update_id = derive_id(company, conversation, "desk", LEFT, operator, str(assigned.at))
            await self._publish_own(state, update_id, {"assignee": "", "reason": LEFT})

    async def _settle(self, state: InboxConversation, status: Status, reason: Reason) -> None:
        """Publishes an update under an id that is the same for every replica and repeat."""
        status_since = state.desk.state_since
        id_parts = (str(state.latest), str(status_since.at) if status_since else "", status, reason)
        update_id = derive_id(state.company, state.conversation, "desk", *id_parts)
        try:
            await self._publish_own(state, update_id, {"state": status, "reason": reason})
        except NexusError as error:
            _log.warning("not settled", company=state.company, conversation=state.conversation, error=str(error)[:300])

    def _newest_seq(self, state: InboxConversation) -> int:
        """The sequence of its newest fact in the current log; 0 if that fact is from an earlier log."""
        return state.latest.seq if state.latest.era == self.log.era else 0

    def _basis_of(self, state: InboxConversation, by: str, seen_seq: int) -> int:
        """The sequence on which a human agent's change is based: the newest fact that they have seen, or the
        conversation's newest if nothing since then is news to them. Their own take-over is no news."""
        is_owner = state.ownership.owner.operator_id == by
        newest_news = state.visitor_traits_position if is_owner else max(state.visitor_traits_position, state.claimed)
        newest = self._newest_seq(state)
        return min(newest, seen_seq) if newest_news.era == self.log.era and newest_news.seq > seen_seq else newest

    async def _publish_own(self, seen: InboxConversation, update_id: str, change: Mapping[str, object]) -> None:
        """Publishes a change of the service's own, unless somebody has settled or assigned the conversation since."""

        def decide(state: InboxConversation) -> ConversationUpdated:
            if any(getattr(state.desk, name) != getattr(seen.desk, name) for name in SETTLED_BY):
                raise ConflictError("it was settled or assigned meanwhile")
            fields = {"company_id": seen.company, "conversation_id": seen.conversation, "by": BY}
            return ConversationUpdated.model_validate({**fields, "basis": self._newest_seq(seen), **change})

        await self._publish(seen.company, seen.conversation, update_id, decide)

    async def _publish(
        self,
        company: str,
        conversation: str,
        update_id: str,
        decide: Callable[[InboxConversation], ConversationUpdated],
    ) -> InboxConversation:
        """Publishes what `decide` makes of the conversation, and applies it. Of two at once, one is decided again with
        the other applied."""
        for _ in range(ATTEMPTS):
            updates = await self.store.updates(company, conversation)
            update = next((update for update in updates if update.id == update_id), None)
            if update is None:
                state = replace(await self._load(company, conversation), desk=fold_updates(updates, self.log.era))
                after = updates[-1].id if updates else ""
                update = await self.facts.publish_update(update_id, decide(state), after)
            state = await self.apply_update(update)
            if update.id == update_id:
                return state
        raise StoreUnavailableError("the conversation kept changing while it was updated: try again")

    async def _load(self, company: str, conversation: str) -> InboxConversation:
        state = await self.conversations.get(company, conversation)
        return state or InboxConversation(company, conversation)


def _needs_assignee(state: InboxConversation) -> bool:
    """Whether it waits for a person and has no assignee, or one assigned before an owner who has left."""
    ownership, assignment = state.ownership, state.desk.assigned
    is_older = assignment is not None and assignment.before(ownership.position, ownership.since)
    return ownership.owner.kind == OwnerKind.WAITING and (
        state.assignee[0] is None or (is_older and ownership.reason == handoff.IDLE)
    )


def _ms(time: datetime) -> int:
    return round(time.timestamp() * 1000)


def _desk_change(update: Update) -> desk_rpc.DeskChange:
    return desk_rpc.DeskChange.model_validate({**dict(update.data), "id": update.id, "created_at": update.at})
