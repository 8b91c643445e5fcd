"""The subscription table: the methods that memory serves and the facts that it consumes, one thin function each."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

import orjson

from contracts.company_rpc import (
    COMPANY_CREATE,
    COMPANY_GET,
    COMPANY_PATCH,
    CompanyCreateRequest,
    CompanyPatchRequest,
    CompanyReply,
    CompanyRequest,
    CompanySaved,
)
from contracts.envelope import CloudEvent
from contracts.errors import ErrorCode, FieldFault
from contracts.events.tool import ToolCallCompleted
from contracts.identity_rpc import IDENTIFY, IdentifyReply, IdentifyRequest
from contracts.ids import NOBODY, is_company
from contracts.inbox import OwnerEvent
from contracts.rpc import (
    CONVERSATION,
    CONVERSATION_MESSAGES,
    CONVERSATIONS,
    FACTS_AFTER,
    HISTORY,
    LATEST_CONVERSATION,
    MESSAGE_BY_ID,
    SNAPSHOT,
    ConversationRef,
    ConversationReply,
    ConversationsReply,
    ConversationsRequest,
    FactsReply,
    FactsRequest,
    FactView,
    HistoryMessage,
    HistoryReply,
    HistoryRequest,
    LatestConversationReply,
    LatestConversationRequest,
    MessageByIdReply,
    MessageByIdRequest,
    MessagesReply,
    MessagesRequest,
    MessageView,
    SnapshotReply,
    SnapshotRequest,
)
from contracts.streams import FACTS
from memory.adapters.mongo_executions import MongoExecutions
from memory.application.companies import CompanyRegistry
from memory.application.history import HistoryReader
from memory.application.inbox import Inbox
from memory.application.late_facts import FactSubject, LateFacts
from memory.context_ports import PassageSearch
from memory.domain.company import BadSettingsError
from memory.domain.conversation import STATES
from memory.domain.facts import without_principal
from memory.domain.identity import IdentityRefused
from memory.domain.inbox_index import InboxQuery
from memory.domain.keys import BadCursorError
from memory.domain.remembered import BadMemoryError
from memory.errors import (
    AssignedMeanwhile,
    BadKnowledge,
    CompanyExists,
    CorrectionReused,
    MemoryFault,
    MemoryMoved,
    NoSuchCompany,
    NoSuchConversation,
    NoSuchKnowledge,
    NoSuchPerson,
    NotMerged,
    SettingsMoved,
    StoreUnavailable,
)
from memory.ports import InboxFilter
from runtime.batch_worker import BatchWorker, each_event, whole_batch
from runtime.consumers import ConsumerSpec
from runtime.errors import ReadFailed, RpcError
from runtime.outcomes import Ack, DeadLetter, Outcome
from runtime.pull_worker import Delivery
from runtime.service import Service

CALL_COMPLETED = "tools.call.completed.v1"
EXECUTIONS = "memory-executions"
EventT = TypeVar("EventT", bound=CloudEvent[Any])

CODES: tuple[tuple[type[Exception], ErrorCode], ...] = (
    (BadCursorError, ErrorCode.BAD_FIELD),
    (BadMemoryError, ErrorCode.BAD_FIELD),
    (BadSettingsError, ErrorCode.BAD_FIELD),
    (BadKnowledge, ErrorCode.BAD_FIELD),
    (CompanyExists, ErrorCode.CONFLICT),
    (AssignedMeanwhile, ErrorCode.CONFLICT),
    (NoSuchConversation, ErrorCode.NOT_FOUND),
    (NoSuchPerson, ErrorCode.NOT_FOUND),
    (CorrectionReused, ErrorCode.CONFLICT),
    (NotMerged, ErrorCode.CONFLICT),
    (NoSuchCompany, ErrorCode.NOT_FOUND),
    (NoSuchKnowledge, ErrorCode.NOT_FOUND),
    (MemoryMoved, ErrorCode.PRECONDITION_FAILED),
    (SettingsMoved, ErrorCode.PRECONDITION_FAILED),
    (MemoryFault, ErrorCode.UNAVAILABLE),
    (ReadFailed, ErrorCode.UNAVAILABLE),
)
"""The contract's codes for errors of use cases; the first that matches counts."""


def serve(
    service: Service, histories: HistoryReader, inbox: Inbox, companies: CompanyRegistry, knowledge: PassageSearch
) -> None:
    conversations = ConversationMethods(histories, inbox, knowledge)
    settings = CompanyMethods(companies)
    service.serve(HISTORY, conversations.history)
    service.serve(SNAPSHOT, conversations.snapshot)
    service.serve(FACTS_AFTER, conversations.facts)
    service.serve(LATEST_CONVERSATION, conversations.latest)
    service.serve(CONVERSATION, conversations.conversation)
    service.serve(CONVERSATION_MESSAGES, conversations.messages)
    service.serve(CONVERSATIONS, conversations.conversations)
    service.serve(MESSAGE_BY_ID, conversations.message)
    service.serve(COMPANY_GET, settings.get)
    service.serve(COMPANY_CREATE, settings.create)
    service.serve(COMPANY_PATCH, settings.patch)
    service.serve(IDENTIFY, settings.identify)


async def record(executions: MongoExecutions, subject: str, event: CloudEvent[ToolCallCompleted]) -> Ack | DeadLetter:
    """Stores a tool call's outcome."""
    owner = fact_owner(CALL_COMPLETED, subject)
    if owner is None:
        return DeadLetter("the subject names no company and user")
    call = event.data.model_copy(update={"company_id": owner[0], "user_id": owner[1]})
    await executions.add(owner[0], event.id, event.time, call)
    return Ack()


@dataclass(frozen=True, slots=True)
class FactIntake:
    """What consumers of FACTS need: the service, and the filter for late facts."""

    service: Service
    late: LateFacts | None


def take_in(
    intake: FactIntake,
    event_type: str,
    durable: str,
    event: type[EventT],
    take: Callable[[Delivery, EventT], Awaitable[Outcome]],
) -> None:
    """Consumes FACTS of one type, retried while a dependency is away; a misfit becomes a dead letter, and a fact
    about somebody deleted is removed from the stream."""

    async def unless_late(delivery: Delivery, given: EventT) -> Outcome:
        if intake.late is None:
            return await take(delivery, given)
        return await intake.late.take(_about(event_type, delivery, given), lambda: take(delivery, given))

    spec = ConsumerSpec(FACTS.name, durable, (f"{event_type}.>",))
    service = intake.service
    service.add_worker(BatchWorker(service.nats, spec, each_event(event, unless_late), service=service.name))


def take_in_together(
    intake: FactIntake,
    event_type: str,
    durable: str,
    event: type[EventT],
    take: Callable[[Sequence[tuple[Delivery, EventT]]], Awaitable[Sequence[Outcome]]],
    *,
    linger: float,
) -> None:
    """The same for facts that are much cheaper in batches; a batch may fill for `linger` seconds."""

    async def unless_late(given: Sequence[tuple[Delivery, EventT]]) -> Sequence[Outcome]:
        if intake.late is None:
            return await take(given)
        return await intake.late.take_all([(_about(event_type, *one), one) for one in given], take)

    spec = ConsumerSpec(FACTS.name, durable, (f"{event_type}.>",))
    service = intake.service
    worker = BatchWorker(service.nats, spec, whole_batch(event, unless_late), service=service.name, linger=linger)
    service.add_worker(worker)


def _about(event_type: str, delivery: Delivery, given: CloudEvent[Any]) -> FactSubject | None:
    owner = fact_owner(event_type, delivery.subject)
    conversation = getattr(given.data, "conversation_id", None)
    return FactSubject(*owner, conversation, given.time, delivery.seq) if owner else None


def fact_owner(event_type: str, subject: str) -> tuple[str, str | None] | None:
    """Company and user (None: no user) in the subject of a FACT; None if it names no company. The subject counts,
    not the data: publishers have permissions for subjects."""
    parts = subject.removeprefix(f"{event_type}.").split(".")
    if len(parts) != 2 or not is_company(parts[0]):
        return None
    return parts[0], None if parts[1] == NOBODY else parts[1]


def refused(error: Exception) -> RpcError | None:
    """The reply for an error of this service; None: it was not raised on purpose."""
    code = next((code for kind, code in CODES if isinstance(error, kind)), None)
    if code is None:
        return None
    faults = [FieldFault(field=bad.field, message=bad.message) for bad in getattr(error, "fields", ())]
    return RpcError(code, str(error), retryable=bool(getattr(error, "retryable", False)), fields=faults)


class ConversationMethods:
    def __init__(self, histories: HistoryReader, inbox: Inbox, knowledge: PassageSearch) -> None:
        self._histories = histories
        self._inbox = inbox
        self._knowledge = knowledge

    async def history(self, request: HistoryRequest) -> HistoryReply:
        reading = self._histories.newest(
            request.company_id, request.conversation_id, request.up_to_seq, request.limit, exact=True
        )
        said = None
        if request.knowledge:
            found, said = await asyncio.gather(reading, self._knowledge(request.company_id, request.knowledge))
        else:
            found = await reading
        messages = [
            HistoryMessage(
                id=message.id,
                seq=message.seq,
                role=message.role,
                text=message.text,
                files=message.files,
                created_at=message.created_at,
            )
            for message in found.messages
        ]
        # Its parts have been checked: checking them again would only cost time.
        return HistoryReply.model_construct(
            messages=messages, up_to_seq=found.up_to, visitor=found.seen.profile, knowledge=said
        )

    async def snapshot(self, request: SnapshotRequest) -> SnapshotReply:
        found = await self._histories.newest(
            request.company_id, request.conversation_id, request.min_seq, request.limit, exact=False
        )
        events = await self._events(request, found.messages) if request.events and found.messages else None
        return SnapshotReply.model_construct(messages=list(found.messages), seq=found.up_to, events=events)

    async def _events(self, request: SnapshotRequest, messages: Sequence[MessageView]) -> list[OwnerEvent] | None:
        """The changes of owner among these messages; if the store is away a chat begins without them."""
        try:
            events = await self._inbox.events(request.company_id, request.conversation_id, None, None)
        except StoreUnavailable:
            return None
        first = messages[0].created_at if len(messages) >= request.limit else None
        return [event for event in events if first is None or event.created_at >= first]

    async def facts(self, request: FactsRequest) -> FactsReply:
        page = await self._histories.after(
            request.company_id, request.conversation_id, request.since, request.min_seq, request.limit
        )
        facts = [
            FactView(seq=fact.seq, kind=fact.kind.value, event=orjson.loads(without_principal(fact.raw)))
            for fact in page.facts
        ]
        return FactsReply(facts=facts, complete=page.complete, gone=page.gone)

    async def latest(self, request: LatestConversationRequest) -> LatestConversationReply:
        return LatestConversationReply(conversation_id=await self._inbox.latest(request.company_id, request.user_id))

    async def conversation(self, request: ConversationRef) -> ConversationReply:
        return ConversationReply(conversation=await self._inbox.get(request.company_id, request.conversation_id))

    async def messages(self, request: MessagesRequest) -> MessagesReply:
        company, conversation = request.company_id, request.conversation_id
        page = await self._inbox.messages(company, conversation, request.limit, request.cursor, latest=request.latest)
        events = await self._inbox.events(company, conversation, request.cursor, page.next, latest=request.latest)
        return MessagesReply(items=page.items, next=page.next, events=events)

    async def conversations(self, request: ConversationsRequest) -> ConversationsReply:
        which = request.which or request.state or "all"
        if which == "mine" and request.operator_id is None:
            raise RpcError(ErrorCode.BAD_FIELD, "state mine needs operatorId")
        first = "asc" if which == "needs_human" else "desc"
        direction = request.direction or first
        chosen = InboxFilter(
            state=which if which in STATES else None,
            operator_id=request.operator_id if which == "mine" else None,
            user_id=request.user_id,
            unassigned=which == "unassigned",
            turned=direction != first,
        )
        narrowed = bool(request.query or request.label or request.since or request.until)
        if narrowed or (request.user_id is not None and which != "all"):
            return await self._search(request, chosen)
        page = await self._inbox.page(request.company_id, chosen, request.limit, request.cursor)
        order = "waiting" if which == "needs_human" else "activity"
        return ConversationsReply(items=page.items, next=page.next, order=order, direction=direction)

    async def _search(self, request: ConversationsRequest, chosen: InboxFilter) -> ConversationsReply:
        wanted = InboxQuery(
            query=request.query,
            state=chosen.state,
            assignee=chosen.operator_id,
            person=request.user_id,
            unassigned=chosen.unassigned,
            label=request.label,
            since=_aware(request.since),
            until=_aware(request.until),
        )
        direction = request.direction or "desc"
        page, complete = await self._inbox.search(
            request.company_id, wanted, request.limit, request.cursor, turned=direction == "asc"
        )
        return ConversationsReply(
            items=page.items, next=page.next, order="activity", direction=direction, complete=complete
        )

    async def message(self, request: MessageByIdRequest) -> MessageByIdReply:
        found = await self._inbox.message(request.company_id, request.conversation_id, request.message_id)
        return MessageByIdReply(message=found)


def _aware(at: datetime | None) -> datetime | None:
    """The time; UTC if it has no zone."""
    return at.replace(tzinfo=UTC) if at is not None and at.tzinfo is None else at


class CompanyMethods:
    def __init__(self, companies: CompanyRegistry) -> None:
        self._companies = companies

    async def get(self, request: CompanyRequest) -> CompanyReply:
        kept = await self._companies.kept(request.company_id)
        if kept is not None and kept.deleted:
            return CompanyReply(deleted=kept.version)
        return CompanyReply(settings=kept)

    async def create(self, request: CompanyCreateRequest) -> CompanySaved:
        return CompanySaved(settings=await self._companies.create(request.config))

    async def patch(self, request: CompanyPatchRequest) -> CompanySaved:
        return CompanySaved(settings=await self._companies.patch(request.company_id, request.version, request.patch))

    async def identify(self, request: IdentifyRequest) -> IdentifyReply:
        try:
            return IdentifyReply(user=await self._companies.identify(request.company_id, request.token))
        except IdentityRefused as error:
            return IdentifyReply(problem=str(error))
