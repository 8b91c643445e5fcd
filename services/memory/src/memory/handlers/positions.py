"""Finds stores that have lost data and fills them again from the streams (application/positions), and retires consumers
of earlier releases."""

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
from memory.fact_intake import FactType, TakenFact, read_again
from memory.handlers import contexts, desk, ratings, usage, users
from memory.knowledge import part as knowledge_part
from memory.knowledge.part import KnowledgePart
from runtime.bus.direct import StoredFact

DataT = TypeVar("DataT", bound=BaseModel)

DAY = timedelta(days=1)
PROJECTION = f"{CHAT.name}/{DURABLE}"
FORMER_EVERY = 600.0
"""Seconds between checks for consumers of earlier releases."""
POSITIONS_EVERY = 5.0
"""Seconds between checks whether a store has lost data."""


def watch(
    deps: Deps,
    kept: MongoPositions,
    redis: Redis,
    mongodb_sources: tuple[ProjectionSource, ...],
    redis_sources: tuple[ProjectionSource, ...],
    *,
    empty: bool,
    restored: Callable[[], None],
) -> tuple[Positions, tuple[PeriodicSweep, ...]]:
    """MongoDB's positions, and the sweeps of both stores; `empty`: MongoDB is new."""
    service, now, every = deps.service, deps.clock.now, deps.settings.positions_sweep
    consumers = BusConsumers(service.nats)
    of_mongodb = Positions(
        "mongodb",
        kept,
        consumers,
        mongodb_sources,
        now=now,
        empty=empty,
        every=every,
        restored=restored,
    )
    of_redis = Positions("redis", RedisPositions(redis), consumers, redis_sources, now=now, empty=True, every=every)
    former = FormerConsumers(consumers, of_earlier_releases(mongodb_sources))
    service.add_check("store", of_mongodb.check)
    # Not so Redis: what users did and nobody has kept yet comes again by its position.
    service.on_stop(of_mongodb.settle)
    looks = PeriodicSweep("position of MongoDB", POSITIONS_EVERY, of_mongodb.look)
    of_mongodb.hurry = looks.hurry
    return of_mongodb, (
        looks,
        PeriodicSweep("position of Redis", POSITIONS_EVERY, of_redis.look),
        PeriodicSweep("consumers of earlier releases", FORMER_EVERY, former.sweep),
    )


def in_mongodb(
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
        facts = [fact for each in stored if (fact := log.fact(each)) is not None]
        await projection.project(facts)
        await knowledge.note_gaps(facts)

    async def project_again(stored: Sequence[StoredFact]) -> None:
        await process_all(stored, project)

    async def holds(stored: Sequence[StoredFact]) -> bool:
        return await projection.are_stored([fact for each in stored if (fact := log.fact(each)) is not None])

    async def learn(stored: StoredFact) -> None:
        if (fact := log.fact(stored)) is not None:
            await lessons.take(fact)

    async def count(fact: TakenFact[UsageRecorded]) -> None:
        await usages.count([usage.spent(fact)])

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, project_again, holds=holds),
        # After the conversations, which it reads.
        ProjectionSource(CHAT.name, DURABLE, users.TURN_ANSWERED, _one_by_one(learn), kept_as=users.LEARNING),
        _facts(users.CALLS, partial(users.record, executions)),
        _facts(users.CALLS, partial(users.watch, learner), kept_as=users.WATCHLISTS),
        _facts(usage.USAGE_FACTS, count),
        ProjectionSource(FACTS.name, knowledge_part.DURABLE, knowledge_part.SUBJECT, _one_by_one(knowledge.again)),
        _facts(ratings.ANSWER_RATINGS, partial(ratings.rate_answer, answer_ratings)),
        _facts(desk.UPDATE_FACTS, partial(desk.take_update, human_desk)),
        _facts(desk.NOTE_FACTS, partial(desk.take_note, human_desk)),
        _facts(ratings.CONVERSATION_RATINGS, partial(ratings.rate_conversation, reports)),
    )


def of_earlier_releases(in_mongodb: Sequence[ProjectionSource]) -> tuple[ProjectionSource, ...]:
    """Sources that once had a consumer of their own (application/former_consumers), named as in the store."""
    return tuple(replace(source, durable=source.kept_as) for source in in_mongodb if source.kept_as)


def in_redis(log: StreamLog, activity: Activity, budgets: BudgetBook) -> tuple[ProjectionSource, ...]:
    """Redis's sources; windows need none, since each says how far it reaches."""

    async def note(stored: StoredFact) -> None:
        fact = log.fact(stored)
        if fact is not None:
            await activity.again(fact)

    async def settle(fact: TakenFact[UsageRecorded]) -> None:
        await budgets.settle_all(usage.settlements(fact))

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, _one_by_one(note), kept=LIFETIME),
        _facts(contexts.ACTIONS, partial(contexts.decide, activity), kept=LIFETIME),
        _facts(usage.USAGE_FACTS, settle, kept=DAY),
    )


def _facts(
    kind: FactType[DataT],
    take: Callable[[TakenFact[DataT]], Awaitable[object]],
    kept: timedelta | None = None,
    kept_as: str = "",
) -> ProjectionSource:
    async def one(stored: StoredFact) -> None:
        if (fact := read_again(kind, stored)) is not None:
            await take(fact)

    return ProjectionSource(FACTS.name, kind.durable, kind.subject, _one_by_one(one), kept, kept_as=kept_as)


def _one_by_one(
    take: Callable[[StoredFact], Awaitable[None]],
) -> Callable[[Sequence[StoredFact]], Awaitable[None]]:
    async def again(facts: Sequence[StoredFact]) -> None:
        await process_each(facts, take)

    return again
