"""Composes the stores' positions: detecting a store that has lost data, and retiring consumers of earlier releases."""

from collections.abc import Callable
from datetime import datetime

from redis.asyncio import Redis

from memory import sources
from memory.adapters.bus_consumers import BusConsumers
from memory.adapters.mongo_positions import MongoPositions
from memory.adapters.redis_positions import RedisPositions
from memory.application.former_consumers import FormerConsumers
from memory.application.positions import Positions, ProjectionSource
from memory.application.sweeps import PeriodicSweep
from runtime.service import Service

FORMER_EVERY = 600.0
"""Seconds between checks for consumers of earlier releases."""
POSITIONS_EVERY = 5.0
"""Seconds between checks whether a store has lost data."""


def position_part(
    service: Service,
    kept: MongoPositions,
    redis: Redis,
    in_mongodb: tuple[ProjectionSource, ...],
    in_redis: tuple[ProjectionSource, ...],
    *,
    now: Callable[[], datetime],
    empty: bool,
    every: float,
    restored: Callable[[], None],
) -> tuple[Positions, tuple[PeriodicSweep, ...]]:
    """MongoDB's positions, and the sweeps of both stores; `empty`: MongoDB is new."""
    consumers = BusConsumers(service.nats)
    of_mongodb = Positions(
        "mongodb",
        kept,
        consumers,
        in_mongodb,
        now=now,
        empty=empty,
        every=every,
        restored=restored,
    )
    of_redis = Positions("redis", RedisPositions(redis), consumers, in_redis, now=now, empty=True, every=every)
    former = FormerConsumers(consumers, sources.of_earlier_releases(in_mongodb))
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
