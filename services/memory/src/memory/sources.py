"""The sources that fill the stores, and how a store that lost data gets it again (application/positions)."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any, TypeVar

from contracts.channels import CHAT_ALL
from contracts.envelope import CloudEvent
from contracts.events.desk import ConversationUpdated, NoteAdded
from contracts.events.fact import ConversationRated, FeedbackGiven, UsageRecorded
from contracts.events.market import ActionDecided
from contracts.events.tool import ToolCallCompleted
from contracts.streams import CHAT, FACTS
from memory import context_handlers, desk_handlers, handlers, insight_handlers, personal_handlers, report_handlers
from memory.adapters import desk_facts
from memory.adapters.chat_consumer import DURABLE
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_reports import MongoReports
from memory.application.activity import Activity
from memory.application.budgets import BudgetBook
from memory.application.desk import Desk
from memory.application.insights import Insights
from memory.application.learner import Learner
from memory.application.lessons import Lessons
from memory.application.positions import ProjectionSource, process_all, process_each
from memory.application.projection import Projection
from memory.application.usage import Usages
from memory.domain.short_term import KEPT
from memory.knowledge import part as knowledge_part
from memory.knowledge.part import KnowledgePart
from runtime.direct import StoredFact

EventT = TypeVar("EventT", bound=CloudEvent[Any])

DAY = timedelta(days=1)
PROJECTION = f"{CHAT.name}/{DURABLE}"


def in_mongodb(
    log: StreamLog,
    projection: Projection,
    executions: MongoExecutions,
    usages: Usages,
    insights: Insights,
    ratings: MongoReports,
    learner: Learner,
    lessons: Lessons,
    knowledge: KnowledgePart,
    desk: Desk,
) -> tuple[ProjectionSource, ...]:

    async def project(stored: Sequence[StoredFact]) -> None:
        facts = [fact for each in stored if (fact := log.fact(each)) is not None]
        await projection.project(facts)
        await knowledge.heard(facts)

    async def project_again(stored: Sequence[StoredFact]) -> None:
        await process_all(stored, project)

    async def holds(stored: Sequence[StoredFact]) -> bool:
        return await projection.holds([fact for each in stored if (fact := log.fact(each)) is not None])

    async def update(stored: StoredFact) -> None:
        event = CloudEvent[ConversationUpdated].model_validate_json(stored.event)
        if stored.genuine:
            await desk_handlers.take_update(desk, stored.subject, desk_handlers.place_of(stored), event)

    async def note(stored: StoredFact) -> None:
        event = CloudEvent[NoteAdded].model_validate_json(stored.event)
        if stored.genuine:
            await desk_handlers.take_note(desk, stored.subject, desk_handlers.place_of(stored), event)

    async def learn(stored: StoredFact) -> None:
        if (fact := log.fact(stored)) is not None:
            await lessons.take(fact)

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, project_again, holds=holds),
        # After the conversations, which it reads.
        ProjectionSource(
            CHAT.name, DURABLE, personal_handlers.TURN_ANSWERED, _one_by_one(learn), kept_as=personal_handlers.LEARNING
        ),
        _facts(
            handlers.CALL_COMPLETED,
            handlers.EXECUTIONS,
            _each(CloudEvent[ToolCallCompleted], lambda s, e: handlers.record(executions, s, e)),
        ),
        _facts(
            handlers.CALL_COMPLETED,
            handlers.EXECUTIONS,
            _each(CloudEvent[ToolCallCompleted], lambda s, e: personal_handlers.watch(learner, s, e)),
            kept_as=personal_handlers.WATCHLISTS,
        ),
        _facts(
            personal_handlers.USAGE_RECORDED,
            personal_handlers.USAGE_COUNTED,
            _each(CloudEvent[UsageRecorded], lambda s, e: personal_handlers.count(usages, s, e)),
        ),
        ProjectionSource(FACTS.name, knowledge_part.DURABLE, knowledge_part.SUBJECT, _one_by_one(knowledge.again)),
        _facts(
            insight_handlers.FEEDBACK_GIVEN,
            insight_handlers.RATINGS,
            _each(CloudEvent[FeedbackGiven], lambda s, e: insight_handlers.rate(insights, s, e)),
        ),
        _facts(desk_facts.UPDATED, desk_handlers.UPDATES, _one_by_one(update)),
        _facts(desk_facts.NOTED, desk_handlers.NOTE_CONSUMER, _one_by_one(note)),
        _facts(
            report_handlers.CONVERSATION_RATED,
            report_handlers.SATISFACTIONS,
            _each(CloudEvent[ConversationRated], lambda s, e: report_handlers.rate(ratings, s, e)),
        ),
    )


def of_earlier_releases(in_mongodb: Sequence[ProjectionSource]) -> tuple[ProjectionSource, ...]:
    """Sources that once had a consumer of their own (application/former), named as in the store."""
    return tuple(replace(source, durable=source.kept_as) for source in in_mongodb if source.kept_as)


def in_redis(log: StreamLog, activity: Activity, budgets: BudgetBook) -> tuple[ProjectionSource, ...]:
    """Redis's sources; windows need none, since each says how far it reaches."""

    async def note(stored: StoredFact) -> None:
        fact = log.fact(stored)
        if fact is not None:
            await activity.again(fact)

    async def note_all(stored: Sequence[StoredFact]) -> None:
        await process_each(stored, note)

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, note_all, kept=KEPT),
        _facts(
            context_handlers.ACTION_DECIDED,
            context_handlers.ACTIONS,
            _each(CloudEvent[ActionDecided], lambda s, e: context_handlers.decide(activity, s, e)),
            kept=KEPT,
        ),
        _facts(
            personal_handlers.USAGE_RECORDED,
            personal_handlers.USAGE_COUNTED,
            _each(CloudEvent[UsageRecorded], lambda s, e: personal_handlers.settle(budgets, s, e)),
            kept=DAY,
        ),
    )


def _facts(
    event: str,
    durable: str,
    again: Callable[[Sequence[StoredFact]], Awaitable[None]],
    kept: timedelta | None = None,
    kept_as: str = "",
) -> ProjectionSource:
    return ProjectionSource(FACTS.name, durable, f"{event}.>", again, kept, kept_as=kept_as)


def _one_by_one(
    take: Callable[[StoredFact], Awaitable[None]],
) -> Callable[[Sequence[StoredFact]], Awaitable[None]]:
    async def again(facts: Sequence[StoredFact]) -> None:
        await process_each(facts, take)

    return again


def _each(
    event: type[EventT], take: Callable[[str, EventT], Awaitable[object]]
) -> Callable[[Sequence[StoredFact]], Awaitable[None]]:
    async def one(fact: StoredFact) -> None:
        if fact.genuine:
            await take(fact.subject, event.model_validate_json(fact.event))

    async def again(facts: Sequence[StoredFact]) -> None:
        await process_each(facts, one)

    return again
