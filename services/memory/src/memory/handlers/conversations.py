"""The methods about conversations: histories, snapshots, the inbox, and how far human agents have read."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from contracts import conversation_rpc
from contracts.errors import ErrorCode
from contracts.inbox import OwnerEvent
from contracts.owner_rpc import OWNER_SEEN, OwnerSeenReply, OwnerSeenRequest
from memory.adapters.cached_windows import CachedWindows
from memory.adapters.redis_windows import RedisWindows
from memory.application.contexts import PassageSearch
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.inbox_search import InboxSearch
from memory.application.late_facts import ConversationDropper
from memory.deps import Deps
from memory.domain.conversation import STATES
from memory.domain.inbox_index import InboxQuery
from memory.domain.reply_size import history_messages
from memory.errors import StoreUnavailableError
from runtime.errors import RpcError


@dataclass(frozen=True, slots=True)
class ConversationReaders:
    """How all features read conversations. `quick_histories` are for contexts. `windows` are to be started; `drops`
    remove conversations from this process's caches."""

    histories: HistoryReader
    quick_histories: HistoryReader
    inbox: Inbox
    windows: RedisWindows
    drops: tuple[ConversationDropper, ...]


def build(deps: Deps) -> ConversationReaders:
    windows = RedisWindows(deps.redis)
    cached_windows = CachedWindows(windows)
    history_reader = partial(
        HistoryReader,
        facts=deps.facts,
        conversations=deps.conversations,
        windows=cached_windows,
        log=deps.log,
        floor=deps.floor,
        deadline=deps.settings.history_deadline,
    )
    inbox_search = InboxSearch(deps.conversations)
    deps.service.on_stop(inbox_search.stop)
    inbox = Inbox(
        facts=deps.facts,
        conversations=deps.conversations,
        searching=inbox_search,
        looks=deps.looks,
        log=deps.log,
        floor=deps.floor,
    )
    return ConversationReaders(
        history_reader(),
        # A context reads the history twice within two parts' deadlines, and its summary may take one of these in
        # between.
        history_reader(patience=deps.settings.context_part / 4),
        inbox,
        windows,
        (windows.drop, cached_windows.drop, inbox_search.drop),
    )


def serve(deps: Deps, histories: HistoryReader, inbox: Inbox, knowledge: PassageSearch) -> None:
    service = deps.service
    conversations = ConversationMethods(histories, inbox, knowledge)

    async def seen(request: OwnerSeenRequest) -> OwnerSeenReply:
        time = await deps.floor.now()
        await deps.looks.note(request.company_id, request.conversation_id, request.operator_id, time, request.up_to_seq)
        return OwnerSeenReply()

    service.serve(conversation_rpc.HISTORY, conversations.history)
    service.serve(conversation_rpc.SNAPSHOT, conversations.snapshot)
    service.serve(conversation_rpc.FACTS_AFTER, conversations.facts)
    service.serve(conversation_rpc.LATEST_CONVERSATION, inbox.latest)
    service.serve(conversation_rpc.CONVERSATION, conversations.conversation)
    service.serve(conversation_rpc.CONVERSATION_MESSAGES, conversations.messages)
    service.serve(conversation_rpc.CONVERSATIONS, conversations.conversations)
    service.serve(conversation_rpc.MESSAGE_BY_ID, conversations.message)
    service.serve(OWNER_SEEN, seen)


class ConversationMethods:
    def __init__(self, histories: HistoryReader, inbox: Inbox, knowledge: PassageSearch) -> None:
        self._histories = histories
        self._inbox = inbox
        self._knowledge = knowledge

    async def history(self, request: conversation_rpc.HistoryRequest) -> conversation_rpc.HistoryReply:
        history_call = self._histories.newest(
            request.company_id, request.conversation_id, request.up_to_seq, request.limit, exact=True
        )
        passages = None
        if request.knowledge:
            history, passages = await asyncio.gather(
                history_call, self._knowledge(request.company_id, request.knowledge)
            )
        else:
            history = await history_call
        messages = history_messages(history.messages, with_files=True)
        # The parts have been validated: validating them again would only cost time.
        return conversation_rpc.HistoryReply.model_construct(
            messages=messages, up_to_seq=history.up_to, visitor=history.traits.profile, knowledge=passages
        )

    async def snapshot(self, request: conversation_rpc.SnapshotRequest) -> conversation_rpc.SnapshotReply:
        history = await self._histories.newest(
            request.company_id, request.conversation_id, request.min_seq, request.limit, exact=False
        )
        events = await self._events(request, history.messages) if request.events and history.messages else None
        return conversation_rpc.SnapshotReply.model_construct(
            messages=list(history.messages), seq=history.up_to, events=events
        )

    async def _events(
        self, request: conversation_rpc.SnapshotRequest, messages: Sequence[conversation_rpc.MessageView]
    ) -> list[OwnerEvent] | None:
        """The changes of owner among these messages; None if the store is unavailable: the chat then begins without
        them."""
        try:
            events = await self._inbox.events(request.company_id, request.conversation_id, None, None)
        except StoreUnavailableError:
            return None
        first = messages[0].created_at if len(messages) >= request.limit else None
        return [event for event in events if first is None or event.created_at >= first]

    async def facts(self, request: conversation_rpc.FactsRequest) -> conversation_rpc.FactsReply:
        return await self._histories.after(
            request.company_id, request.conversation_id, request.since, request.min_seq, request.limit
        )

    async def conversation(self, request: conversation_rpc.ConversationRef) -> conversation_rpc.ConversationReply:
        return conversation_rpc.ConversationReply(
            conversation=await self._inbox.get(request.company_id, request.conversation_id)
        )

    async def messages(self, request: conversation_rpc.MessagesRequest) -> conversation_rpc.MessagesReply:
        company, conversation = request.company_id, request.conversation_id
        page = await self._inbox.messages(company, conversation, request.limit, request.cursor, latest=request.latest)
        events = await self._inbox.events(company, conversation, request.cursor, page.next, latest=request.latest)
        return conversation_rpc.MessagesReply(items=page.items, next=page.next, events=events)

    async def conversations(
        self, request: conversation_rpc.ConversationsRequest
    ) -> conversation_rpc.ConversationsReply:
        list_name = request.which or request.state or "all"
        if list_name == "mine" and request.operator_id is None:
            raise RpcError(ErrorCode.BAD_FIELD, "state mine needs operatorId")
        usual_direction = "asc" if list_name == "needs_human" else "desc"
        direction = request.direction or usual_direction
        query = InboxQuery(
            query=request.query,
            state=list_name if list_name in STATES else None,
            assignee=request.operator_id if list_name == "mine" else None,
            person=request.user_id,
            unassigned=list_name == "unassigned",
            label=request.label,
            since=_aware(request.since),
            until=_aware(request.until),
        )
        is_search = bool(request.query or request.label or request.since or request.until)
        if is_search or (request.user_id is not None and list_name != "all"):
            return await self._search(request, query)
        is_reversed = direction != usual_direction
        page = await self._inbox.page(request.company_id, query, request.limit, request.cursor, is_reversed=is_reversed)
        order = "waiting" if list_name == "needs_human" else "activity"
        return conversation_rpc.ConversationsReply(items=page.items, next=page.next, order=order, direction=direction)

    async def _search(
        self, request: conversation_rpc.ConversationsRequest, query: InboxQuery
    ) -> conversation_rpc.ConversationsReply:
        direction = request.direction or "desc"
        page, complete = await self._inbox.search(
            request.company_id, query, request.limit, request.cursor, oldest_first=direction == "asc"
        )
        return conversation_rpc.ConversationsReply(
            items=page.items, next=page.next, order="activity", direction=direction, complete=complete
        )

    async def message(self, request: conversation_rpc.MessageByIdRequest) -> conversation_rpc.MessageByIdReply:
        message = await self._inbox.message(request.company_id, request.conversation_id, request.message_id)
        return conversation_rpc.MessageByIdReply(message=message)


def _aware(time: datetime | None) -> datetime | None:
    """The time with a zone: UTC if it has none."""
    return time.replace(tzinfo=UTC) if time is not None and time.tzinfo is None else time
