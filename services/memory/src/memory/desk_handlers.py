"""The desk's methods, and the facts that it consumes."""

import asyncio

from contracts.desk_rpc import (
    COLLEAGUES,
    CONVERSATION_UPDATE,
    COUNTS,
    NAMED,
    NOTE_ADD,
    NOTES,
    PERSON_MERGE,
    REPLIES,
    REPLY_DELETE,
    REPLY_PUT,
    CannedReplies,
    CannedRepliesRequest,
    CannedReplyGone,
    CannedReplyRef,
    CannedReplyRequest,
    CannedReplySaved,
    Colleagues,
    ColleaguesRequest,
    ConversationUpdate,
    CountsReply,
    CountsRequest,
    NoteReply,
    NoteRequest,
    NotesReply,
)
from contracts.envelope import CloudEvent
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.rpc import ConversationRef, ConversationReply
from memory.adapters.desk_facts import NOTED, UPDATED
from memory.adapters.mongo_desk import MongoDesk
from memory.application.desk import Desk
from memory.application.inbox import Inbox
from memory.application.people import People
from memory.application.rating_question import RatingQuestion
from memory.domain.desk import RESOLVED, Update
from memory.domain.keys import LogPosition
from memory.handlers import FactIntake, fact_owner, take_in
from runtime.direct import StoredFact
from runtime.outcomes import Ack, DeadLetter, Outcome
from runtime.pull_worker import Delivery
from runtime.service import Service

UPDATES, NOTE_CONSUMER = "memory-updates", "memory-notes"
"""The durable consumers."""


def serve(service: Service, desk: Desk, store: MongoDesk, inbox: Inbox, people: People) -> None:

    async def update(request: ConversationUpdate) -> ConversationReply:
        updated = await desk.update(request)
        await people.follow(request)
        return ConversationReply(conversation=updated)

    async def colleagues(request: ColleaguesRequest) -> Colleagues:
        return await people.colleagues(request.company_id)

    async def add_note(request: NoteRequest) -> NoteReply:
        return NoteReply(note=await desk.note(request))

    async def notes(request: ConversationRef) -> NotesReply:
        return await desk.notes(request.company_id, request.conversation_id)

    async def counts(request: CountsRequest) -> CountsReply:
        who = request.company_id, request.operator_id
        if request.present:
            await inbox.at_desk(*who, request.operator_name)
        counted, unread, new = await asyncio.gather(
            inbox.counts(*who), inbox.unread(*who), desk.named_new(*who, request.operator_name)
        )
        return CountsReply.model_validate({**counted, "unread": unread, "named": new})

    async def replies(request: CannedRepliesRequest) -> CannedReplies:
        return CannedReplies(items=await store.replies(request.company_id))

    async def put_reply(request: CannedReplyRequest) -> CannedReplySaved:
        await store.put_reply(request.company_id, request.reply)
        return CannedReplySaved(reply=request.reply)

    async def delete_reply(request: CannedReplyRef) -> CannedReplyGone:
        return CannedReplyGone(deleted=await store.delete_reply(request.company_id, request.shortcut))

    service.serve(CONVERSATION_UPDATE, update)
    service.serve(PERSON_MERGE, people.merge)
    service.serve(COLLEAGUES, colleagues)
    service.serve(NOTE_ADD, add_note)
    service.serve(NOTES, notes)
    service.serve(COUNTS, counts)
    service.serve(NAMED, desk.named)
    service.serve(REPLIES, replies)
    service.serve(REPLY_PUT, put_reply)
    service.serve(REPLY_DELETE, delete_reply)


def consume(intake: FactIntake, desk: Desk, question: RatingQuestion) -> None:
    """The desk's facts. When a conversation is resolved, its visitor is asked whether it helped."""

    async def updated(delivery: Delivery, event: CloudEvent[ConversationUpdated]) -> Outcome:
        outcome = await take_update(desk, delivery.subject, _place(delivery), event)
        owner = fact_owner(UPDATED, delivery.subject)
        if owner is not None and event.data.state == RESOLVED:
            await question.ask(owner[0], event.data.conversation_id)
        return outcome

    async def noted(delivery: Delivery, event: CloudEvent[NoteAdded]) -> Outcome:
        return await take_note(desk, delivery.subject, _place(delivery), event)

    take_in(intake, UPDATED, UPDATES, CloudEvent[ConversationUpdated], updated)
    take_in(intake, NOTED, NOTE_CONSUMER, CloudEvent[NoteAdded], noted)


async def take_update(
    desk: Desk, subject: str, place: LogPosition, event: CloudEvent[ConversationUpdated]
) -> Ack | DeadLetter:
    """Applies a desk change to its conversation."""
    owner = fact_owner(UPDATED, subject)
    if owner is None:
        return DeadLetter("the subject names no company and user")
    # Whose it is is in the subject, not in what somebody writes.
    data = event.data.model_copy(update={"company_id": owner[0]})
    await desk.take_update(Update(event.id, place, data))
    return Ack()


async def take_note(desk: Desk, subject: str, place: LogPosition, event: CloudEvent[NoteAdded]) -> Ack | DeadLetter:
    """Adds a note to its conversation."""
    owner = fact_owner(NOTED, subject)
    if owner is None:
        return DeadLetter("the subject names no company and user")
    await desk.take_note(place, event.data.model_copy(update={"company_id": owner[0]}))
    return Ack()


def place_of(stored: StoredFact) -> LogPosition:
    """The position of a fact that is read again."""
    return LogPosition(int(stored.time.timestamp() * 1000), stored.seq)


def _place(delivery: Delivery) -> LogPosition:
    return LogPosition(int(delivery.stored_at * 1000), delivery.seq)
