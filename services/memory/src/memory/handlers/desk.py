"""The desk's methods and facts, and the rating question."""

import asyncio
from functools import partial

from contracts import desk_rpc
from contracts.conversation_rpc import ConversationReply
from contracts.envelope import CloudEvent
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.streams import FACTS
from memory.adapters.desk_facts import NOTE_EVENT, UPDATED_EVENT, BusDeskFacts
from memory.adapters.mongo_desk import MongoDesk
from memory.application.desk import Desk
from memory.application.handoffs import Handoffs
from memory.application.inbox import Inbox
from memory.application.people import People
from memory.application.rating_question import ask_rating
from memory.application.reports import Reports
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.desk import RESOLVED, Update
from memory.fact_intake import FactIntake, FactType, ReceivedFact, consume_facts
from runtime.bus.direct import DirectReader
from runtime.workers.outcomes import Ack

REST_FACTOR = 5
"""A sweep that found nothing waits this many times longer: new work comes with a fact, and the replica that receives it
sweeps at the usual interval."""
UPDATE_FACTS = FactType(UPDATED_EVENT, "memory-updates", CloudEvent[ConversationUpdated])
NOTE_FACTS = FactType(NOTE_EVENT, "memory-notes", CloudEvent[NoteAdded])


def serve(deps: Deps, intake: FactIntake, inbox: Inbox) -> Desk:
    """Serves the desk's methods and consumes its facts."""
    service, companies, looks, log = deps.service, deps.companies, deps.looks, deps.log
    conversations, stored = deps.stored_conversations, MongoDesk(deps.fact_database)
    desk = Desk(
        store=stored,
        facts=BusDeskFacts(service.publisher, DirectReader(service.nats, FACTS.name)),
        conversations=conversations,
        companies=companies,
        inbox=inbox,
        looks=looks,
        log=log,
        clock=deps.floor.now,
    )
    people = People(desk=desk, store=stored, conversations=conversations, companies=companies, inbox=inbox, looks=looks)

    async def update(request: desk_rpc.ConversationUpdate) -> ConversationReply:
        updated = await desk.update(await people.known(request))
        await people.follow(request)
        return ConversationReply(conversation=updated)

    async def counts(request: desk_rpc.CountsRequest) -> desk_rpc.CountsReply:
        operator_key = request.company_id, request.operator_id
        if request.present:
            await desk.report_at_desk(*operator_key, request.operator_name)
        list_counts, unread, new_mentions = await asyncio.gather(
            inbox.counts(*operator_key),
            inbox.unread(*operator_key),
            desk.count_new_mentions(*operator_key, request.operator_name),
        )
        return desk_rpc.CountsReply.model_validate({**list_counts, "unread": unread, "named": new_mentions})

    service.serve(desk_rpc.CONVERSATION_UPDATE, update)
    service.serve(desk_rpc.PERSON_MERGE, people.merge)
    service.serve(desk_rpc.COLLEAGUES, people.colleagues)
    service.serve(desk_rpc.NOTE_ADD, desk.note)
    service.serve(desk_rpc.NOTES, desk.notes)
    service.serve(desk_rpc.COUNTS, counts)
    service.serve(desk_rpc.NAMED, desk.named)
    canned = MongoDesk(deps.database)
    service.serve(desk_rpc.REPLIES, canned.replies)
    service.serve(desk_rpc.REPLY_PUT, canned.put_reply)
    service.serve(desk_rpc.REPLY_DELETE, canned.delete_reply)

    async def updated(fact: ReceivedFact[ConversationUpdated]) -> Ack:
        await apply_update(desk, fact)
        if fact.data.state == RESOLVED:
            # The visitor is asked whether it helped once it is over.
            await ask_rating(conversations, companies, log, fact.company, fact.data.conversation_id)
        return Ack()

    add_note_fact = partial(store_note, desk)
    consume_facts(intake, UPDATE_FACTS, updated)
    consume_facts(intake, NOTE_FACTS, add_note_fact)
    intake.read_again(UPDATE_FACTS, partial(apply_update, desk))
    intake.read_again(NOTE_FACTS, add_note_fact)
    return desk


def handoff_sweeps(deps: Deps, desk: Desk, reports: Reports) -> tuple[PeriodicSweep, PeriodicSweep]:
    """The sweeps that new facts of conversations stir."""
    handoffs = Handoffs(
        conversations=deps.conversations,
        companies=deps.companies,
        log=deps.log,
        looks=deps.looks,
        clock=deps.floor.now,
        measure_usual_wait=reports.usual_wait,
        assign_in_turn=desk.assign_in_turn,
    )
    deps.service.before_metrics(handoffs.measure)
    interval = deps.settings.handoff_sweep
    return (
        PeriodicSweep("waiting conversations", interval, handoffs.look, idle_seconds=REST_FACTOR * interval),
        PeriodicSweep("conversations that are due", interval, desk.sweep, idle_seconds=REST_FACTOR * interval),
    )


async def apply_update(desk: Desk, fact: ReceivedFact[ConversationUpdated]) -> None:
    """Applies a desk change to its conversation."""
    data = fact.data.model_copy(update={"company_id": fact.company})
    await desk.apply_update(Update(fact.event.id, fact.position, data))


async def store_note(desk: Desk, fact: ReceivedFact[NoteAdded]) -> Ack:
    """Adds a note to its conversation."""
    await desk.store.add_note(fact.position, fact.data.model_copy(update={"company_id": fact.company}))
    return Ack()
