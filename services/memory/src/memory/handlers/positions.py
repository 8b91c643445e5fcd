"""Builds the sweeps that find stores that have lost data and fill them again from the streams (application/positions),
and the one that retires consumers of earlier releases."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial

from redis.asyncio import Redis

from contracts.channels import CHAT_ALL, ChatKind
from contracts.events.fact import UsageRecorded
from contracts.streams import CHAT
from memory.adapters.bus_consumers import BusConsumers
from memory.adapters.chat_consumer import DURABLE
from memory.adapters.chat_log import StreamLog
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.redis_positions import RedisPositions
from memory.application.activity import Activity
from memory.application.budgets import BudgetBook
from memory.application.former_consumers import FormerConsumers
from memory.application.lessons import Lessons
from memory.application.positions import Positions
from memory.application.projection import Projection
from memory.application.projection_sources import ProjectionSource, process_all, process_each
from memory.application.sweeps import PeriodicSweep
from memory.deps import Deps
from memory.domain.facts import LogFact
from memory.domain.short_term import LIFETIME
from memory.fact_intake import ReceivedFact, fact_source
from memory.handlers import contexts, usage
from runtime.bus.direct import StoredFact

DAY = timedelta(days=1)
PROJECTION = f"{CHAT.name}/{DURABLE}"
LEARNING = "memory-learning"
"""A consumer of earlier releases, whose facts now come through the projection's."""
TURN_ANSWERED = f"chat.*.*.{ChatKind.ASSISTANT.value}"
FORMER_SWEEP_SECONDS = 600.0
"""Interval of checks for consumers of earlier releases."""
POSITIONS_SWEEP_SECONDS = 5.0
"""Interval of checks whether a store has lost data."""


def watch(
    deps: Deps,
    stored_positions: MongoPositions,
    redis: Redis,
    mongodb_sources: Sequence[ProjectionSource],
    redis_sources: Sequence[ProjectionSource],
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
    # Named as in the store.
    former_sources = [replace(source, durable=source.stored_as) for source in mongodb_sources if source.stored_as]
    former_consumers = FormerConsumers(consumers, former_sources)
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


def projection_source(
    log: StreamLog, projection: Projection, note_gaps: Callable[[Sequence[LogFact]], Awaitable[None]]
) -> ProjectionSource:
    """The source of all conversations."""

    async def project(stored: Sequence[StoredFact]) -> None:
        facts = _facts(log, stored)
        await projection.project(facts)
        await note_gaps(facts)

    async def has_all(stored: Sequence[StoredFact]) -> bool:
        return await projection.are_stored(_facts(log, stored))

    return ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, partial(process_all, take=project), has_all=has_all)


def lesson_source(log: StreamLog, lessons: Lessons) -> ProjectionSource:
    """The source of what is learned from answers. It comes after that of the conversations, which learning reads."""

    async def learn(stored: StoredFact) -> None:
        for fact in _facts(log, [stored]):
            await lessons.take(fact)

    return ProjectionSource(CHAT.name, DURABLE, TURN_ANSWERED, partial(process_each, take=learn), stored_as=LEARNING)


def redis_sources(log: StreamLog, activity: Activity, budgets: BudgetBook) -> tuple[ProjectionSource, ...]:
    """Redis's sources. Windows need none, since each contains the sequence that it reaches."""

    async def note(stored: StoredFact) -> None:
        for fact in _facts(log, [stored]):
            await activity.reapply(fact)

    async def settle(fact: ReceivedFact[UsageRecorded]) -> None:
        await budgets.settle_all(usage.settlements(fact))

    return (
        ProjectionSource(CHAT.name, DURABLE, CHAT_ALL, partial(process_each, take=note), max_age=LIFETIME),
        fact_source(contexts.ACTIONS, partial(contexts.clear_action, activity), max_age=LIFETIME),
        fact_source(usage.USAGE_FACTS, settle, max_age=DAY),
    )


def _facts(log: StreamLog, stored: Sequence[StoredFact]) -> list[LogFact]:
    """The valid facts among these."""
    return [fact for stored_fact in stored if (fact := log.fact(stored_fact)) is not None]
