"""Reads conversations, one or many, for human agents."""

from dataclasses import dataclass
from datetime import UTC, datetime

from contracts.conversation_rpc import (
    ConversationView,
    LatestConversationReply,
    LatestConversationRequest,
    MessageView,
)
from contracts.events.chat import OwnerKind
from contracts.inbox import OwnerEvent, VisitorView
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_conversations import MongoConversations
from memory.adapters.mongo_facts import MongoFacts
from memory.adapters.projection_floor import ProjectionFloor
from memory.adapters.redis_looks import RedisLooks
from memory.application.history import MAX_GAP
from memory.application.inbox_search import InboxSearch
from memory.domain.conversation import CUSTOMER, InboxConversation
from memory.domain.facts import owner_event, view
from memory.domain.inbox_index import InboxQuery
from memory.domain.keys import LogPosition, conversation_key, from_cursor, position_at, to_cursor
from memory.errors import RedisUnavailableError
from memory.ports import PageOf

PROJECTION_TIMEOUT_SECONDS = 1.0
"""How long a list waits for the projection to reach the log's current end."""
NO_VISITOR = "-"
MAX_UNREAD = 500
MAX_EVENTS = 200
"""Changes of owner in one page of messages at most."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class Inbox:
    """Reads the projected conversations."""

    facts: MongoFacts
    conversations: MongoConversations
    searching: InboxSearch
    looks: RedisLooks
    log: StreamLog
    floor: ProjectionFloor

    async def get(self, company: str, conversation: str) -> ConversationView | None:
        """Returns one conversation as of the request."""
        await self.fresh()
        state = await self.conversations.get(company, conversation)
        return conversation_view(state) if state and state.started_at else None

    async def counts(self, company: str, operator: str) -> dict[str, int]:
        """The number of conversations in each list, as of the request."""
        await self.fresh()
        return await self.conversations.counts(company, operator)

    async def unread(self, company: str, operator: str) -> dict[str, int] | None:
        """For each conversation, the sequence of its newest visitor message that is unanswered and that this human
        agent has not read; None if it is unknown what they have read."""
        await self.fresh()
        unanswered = await self.conversations.unanswered(company, MAX_UNREAD)
        try:
            read_positions = await self.looks.read(company, operator, unanswered)
        except RedisUnavailableError:
            return None
        return {name: seq for (name, seq), up_to in zip(unanswered.items(), read_positions, strict=True) if seq > up_to}

    async def latest(self, request: LatestConversationRequest) -> LatestConversationReply:
        """The person's most recently active conversation, as of the request."""
        await self.fresh()
        name = await self.conversations.latest_of(request.company_id, request.user_id)
        return LatestConversationReply(conversation_id=name)

    async def page(
        self, company: str, query: InboxQuery, limit: int, cursor: str | None, *, is_reversed: bool
    ) -> PageOf[ConversationView]:
        """A page of a list (see MongoConversations.page), as of the request."""
        await self.fresh()
        page = await self.conversations.page(company, query, limit, cursor, is_reversed=is_reversed)
        return page.mapped(conversation_view)

    async def search(
        self, company: str, query: InboxQuery, limit: int, cursor: str | None, *, oldest_first: bool
    ) -> tuple[PageOf[ConversationView], bool]:
        """A page of matches, latest activity first unless `oldest_first`, and whether every conversation was
        examined."""
        await self.fresh()
        hits = await self.searching.find(company, query)
        rows = hits.rows[::-1] if oldest_first else hits.rows
        if cursor:
            activity = from_cursor(cursor, company).removeprefix(f"{company}/")
            rows = [row for row in rows if (row.latest > activity if oldest_first else row.latest < activity)]
        page_rows = rows[:limit]
        states = await self.conversations.load([(company, row.name) for row in page_rows])
        page_states = [state for row in page_rows if (state := states.get((company, row.name))) is not None]
        next_cursor = to_cursor(f"{company}/{page_rows[-1].latest}", company) if len(rows) > limit else None
        return PageOf([conversation_view(state) for state in page_states], next_cursor), hits.complete

    async def messages(
        self, company: str, conversation: str, limit: int, cursor: str | None, *, latest: bool = False
    ) -> PageOf[MessageView]:
        """A page of messages, oldest first. `latest`: the last page, or with its cursor the one before."""
        await self.fresh()
        page = await self.facts.messages(company, conversation, limit, cursor, latest=latest)
        return PageOf([message for fact in page.items if (message := view(fact)) is not None], page.next)

    async def events(
        self, company: str, conversation: str, cursor: str | None, after: str | None, *, latest: bool = False
    ) -> list[OwnerEvent]:
        """The changes of owner for the page after `cursor`, up to the next page's cursor `after`."""
        prefix = conversation_key(company, conversation)
        start_cursor, end_cursor = (after, cursor) if latest else (cursor, after)
        since = position_at(start_cursor, prefix) if start_cursor else LogPosition(0, 0)
        up_to = position_at(end_cursor, prefix) if end_cursor else None
        facts = await self.facts.owner_changes(company, conversation, since, up_to, MAX_EVENTS)
        return [event for fact in facts if (event := owner_event(fact)) is not None]

    async def message(self, company: str, conversation: str, message_id: str) -> MessageView | None:
        """Finds one message by its id, in the store or in the log."""
        fact = await self.facts.message(company, conversation, message_id)
        if fact is not None:
            return view(fact)
        floor, end = self.floor.seq, await self.log.end()
        if end - floor > MAX_GAP:
            await self.floor.reach(end - MAX_GAP, PROJECTION_TIMEOUT_SECONDS)
            floor = self.floor.seq
        for logged in await self.log.read(company, conversation, floor, end):
            message = view(logged)
            if message is not None and message.id == message_id:
                return message
        # The projection may have stored it and moved its floor between the two reads.
        fact = await self.facts.message(company, conversation, message_id)
        return view(fact) if fact else None

    async def fresh(self) -> None:
        """Waits for the projection to reach the log's current end; if that takes too long, answers are older."""
        await self.floor.reach(await self.log.end(), PROJECTION_TIMEOUT_SECONDS)


def conversation_view(state: InboxConversation) -> ConversationView:
    assignee, name = state.assignee
    return ConversationView(
        id=state.conversation,
        company_id=state.company,
        state=state.state,
        owner=state.ownership.owner,
        visitor=VisitorView(
            id=state.person_id or NO_VISITOR,
            was=state.person.user_id if state.person and state.person.user_id != state.person_id else None,
            signed_in=state.desk.signed_in or None,
            page=state.visitor_traits.profile.page,
            visits=state.visitor_traits.profile.visits,
            pages=state.visitor_traits.profile.pages,
            name=state.person_name,
            email=state.visitor_traits.profile.email or state.address,
            plan=state.person.plan if state.person and state.person.role == CUSTOMER else None,
        ),
        last_message=state.last_message,
        message_count=state.message_count,
        started_at=state.started_at or EPOCH,
        waiting_since=state.waiting_since,
        status=state.status,
        assignee=assignee,
        assignee_name=name,
        labels=list(state.desk.labels),
        topic=state.desk.topic,
        snoozed_until=state.wakes_at,
        resolved_at=state.resolved_at,
        resolved_by=state.desk.state_by if state.resolved_at else None,
        previous=state.desk.previous,
        hand_over=state.hand_over if state.ownership.is_waiting or state.ownership.owner.kind != OwnerKind.AI else None,
    )
