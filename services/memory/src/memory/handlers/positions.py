"""Builds the sweeps that find stores that have lost data and fill them again from the streams (application/positions),
and the one that retires consumers of earlier releases."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import TypeVar

from pydantic import BaseModel
from redis.asyncio import Redis

from contracts.channels import CHAT_ALL
from contracts.events.fact import UsageRecorded
from contracts.streams import CHAT, FACTS
from memory.adapters.bus_consumers import BusConsumers
from memory.adapters.chat_consumer import DURABLE
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_executions import MongoExecutions
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.mongo_ratings import MongoRatings
from memory.adapters.mongo_reports import MongoReports
from memory.adapters.redis_positions import RedisPositions
from memory.application.activity import Activity
from memory.application.budgets import BudgetBook
from memory.application.desk import Desk
from memory.application.former_consumers import FormerConsumers
from memory.application.learner import Learner
from memory.application.lessons import Lessons
from memory.application.positions import Positions
from memory.application.projection import Projection
from memory.application.projection_sources import ProjectionSource, process_all, process_each
from memory.application.sweeps import PeriodicSweep
from memory.application.usage import Usages
from memory.deps import Deps
from memory.domain.short_term import LIFETIME
from memory.fact_intake import FactType, ReceivedFact, decode_stored
from memory.handlers import contexts, desk, ratings, usage, users
from memory.knowledge import part as knowledge_part
from memory.knowledge.part import KnowledgePart
from runtime.bus.direct import StoredFact

DataT = TypeVar("DataT", bound=BaseModel)

DAY = timedelta(days=1)
PROJECTION = f"{CHAT.name}/{DURABLE}"
FORMER_SWEEP_SECONDS = 600.0
"""Interval of checks for consumers of earlier releases."""
POSITIONS_SWEEP_SECONDS = 5.0
"""Interval of checks whether a store has lost data."""


def watch(
    deps: Deps,
    stored_positions: MongoPositions,
    redis: Redis,
    mongodb_sources: tuple[ProjectionSource, ...],
    redis_sources: tuple[ProjectionSource, ...],
    *,
    empty: bool,
    restored: Callable[[], None],
) -> tuple[Positions, tuple[PeriodicSweep, ...]]:
    """Returns MongoDB's positions, and the sweeps of both stores. `empty`: the database is new."""
    service, now, interval = deps.service, deps.clock.now, deps.settings.positions_sweep
    consumers = BusConsumers(service.nats)
    mongodb_positions = Positions(
        "mongodb",
        stored_positions,
        consumers,
        mongodb_sources,
        now=now,
        empty=empty,
        every=interval,
        restored=restored,
    )
    redis_positions = Positions(
        "redis", RedisPositions(redis), consumers, redis_sources, now=now, empty=True, every=interval
    )
    former_consumers = FormerConsumers(consumers, of_earlier_releases(mongodb_sources))
    service.add_check("store", mongodb_positions.check)
    # Not for Redis: users' activity that is not stored yet must be processed again, from its position.
    service.on_stop(mongodb_positions.settle)
    mongodb_sweep = PeriodicSweep("position of MongoDB", POSITIONS_SWEEP_SECONDS, mongodb_positions.look)
    mongodb_positions.hurry = mongodb_sweep.hurry
    return mongodb_positions, (
        mongodb_sweep,
        PeriodicSweep("position of Redis", POSITIONS_SWEEP_SECONDS, redis_positions.look),
        PeriodicSweep("consumers of earlier releases", FORMER_SWEEP_SECONDS, former_consumers.sweep),
    )


def mongodb_sources(
    log: StreamLog,
    projection: Projection,
    executions: MongoExecutions,
    usages: Usages,
    answer_ratings: MongoRatings,
    reports: MongoReports,
    learner: Learner,
    lessons: Lessons,
    knowledge: KnowledgePart,
    human_desk: Desk,
) -> tuple[ProjectionSource, ...]:

    async def project(stored: Sequence[StoredFact]) -> None:
        facts = [fact for stored_fact in stored if (fact := log.fact(stored_fact)) is not None]
        await projection.project(facts)
        await knowledge.note_gaps(facts)

    async def project_again(facts: Sequence[StoredFact]) -> None:
        await process_all(facts, project)

    async def has_all(stored: Sequence[StoredFact]) -> bool:
        return await projection.are_stored(
            [fact for stored_fact in stored if (fact := log.fact(stored_fact)) is not None]
        )

    async def learn(stored: StoredFact) -> None:
        if (fact := log.fact(stored)) is not None:
            await lessons.take(fact)

    async def count(fact: ReceivedFact[UsageRecorded]) -> None:
        await usages.count([usage.usage_of(fact)])

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, project_again, has_all=has_all),
        # After the conversations, since learning reads them.
        ProjectionSource(CHAT.name, DURABLE, users.TURN_ANSWERED, _one_by_one(learn), stored_as=users.LEARNING),
        _fact_source(users.CALLS, partial(users.record, executions)),
        _fact_source(users.CALLS, partial(users.learn_from_watchlist, learner), stored_as=users.WATCHLISTS),
        _fact_source(usage.USAGE_FACTS, count),
        ProjectionSource(FACTS.name, knowledge_part.DURABLE, knowledge_part.SUBJECT, _one_by_one(knowledge.again)),
        _fact_source(ratings.ANSWER_RATINGS, partial(ratings.rate_answer, answer_ratings)),
        _fact_source(desk.UPDATE_FACTS, partial(desk.apply_update, human_desk)),
        _fact_source(desk.NOTE_FACTS, partial(desk.store_note, human_desk)),
        _fact_source(ratings.CONVERSATION_RATINGS, partial(ratings.rate_conversation, reports)),
    )


def of_earlier_releases(sources: Sequence[ProjectionSource]) -> tuple[ProjectionSource, ...]:
    """The sources that had a consumer of their own in earlier releases (application/former_consumers), named as in the
    store."""
    return tuple(replace(source, durable=source.stored_as) for source in sources if source.stored_as)


def redis_sources(log: StreamLog, activity: Activity, budgets: BudgetBook) -> tuple[ProjectionSource, ...]:
    """Redis's sources. Windows need none, since each contains the sequence that it reaches."""

    async def note(stored: StoredFact) -> None:
        fact = log.fact(stored)
        if fact is not None:
            await activity.reapply(fact)

    async def settle(fact: ReceivedFact[UsageRecorded]) -> None:
        await budgets.settle_all(usage.settlements(fact))

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, _one_by_one(note), max_age=LIFETIME),
        _fact_source(contexts.ACTIONS, partial(contexts.clear_action, activity), max_age=LIFETIME),
        _fact_source(usage.USAGE_FACTS, settle, max_age=DAY),
    )


def _fact_source(
    kind: FactType[DataT],
    handle: Callable[[ReceivedFact[DataT]], Awaitable[object]],
    max_age: timedelta | None = None,
    stored_as: str = "",
) -> ProjectionSource:
    async def reapply(stored: StoredFact) -> None:
        if (fact := decode_stored(kind, stored)) is not None:
            await handle(fact)

    return ProjectionSource(FACTS.name, kind.durable, kind.subject, _one_by_one(reapply), max_age, stored_as=stored_as)


def _one_by_one(
    handle: Callable[[StoredFact], Awaitable[None]],
) -> Callable[[Sequence[StoredFact]], Awaitable[None]]:
    async def again(facts: Sequence[StoredFact]) -> None:
        await process_each(facts, handle)

    return again
