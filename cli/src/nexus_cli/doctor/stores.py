"""Checks Redis and MongoDB from outside: do they answer, accept a write, and how fast?"""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from pydantic import ValidationError
from pymongo import AsyncMongoClient
from pymongo.errors import OperationFailure, PyMongoError
from redis.asyncio import Redis
from redis.exceptions import (
    AuthenticationError,
    ConnectionError,
    NoPermissionError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import TimeoutError as RedisTimeout

from nexus_cli.doctor.diagnosis import STANDS_STILL, Diagnosis, fine, wrong
from runtime.observability.logging import masked_text
from runtime.settings import MongoSettings, RedisSettings
from runtime.stores.mongo import driver_message
from runtime.stores.redis_client import lost_servers, redis_client
from runtime.tls import remedy

ANSWER_SECONDS = 4.0
SLOW_SECONDS = 0.3
"""A store is slow if a small command takes longer than this; a turn waits for several of them."""
REDIS_PERMISSIONS = "~nexus:* +@all -@admin +bgrewriteaof"
"""The permissions that a user of Redis needs at least."""
ATTEMPTS, PAUSE_SECONDS = 5, 0.05
"""Number of measured commands, and seconds between two: a busy machine delays one of them, a slow store most."""
MEASURE_SECONDS = 3.0
"""Seconds after which no further command is measured."""
PROBE_KEY = "nexus:doctor"
"""Key of the test write, with the services' prefix: their user of Redis may write no other."""
ReportClock = Callable[[str, float], None]
"""Receives the name of a clock, and the seconds by which it is ahead of this machine's."""


async def redis(url: str, tell: ReportClock) -> list[Diagnosis]:
    """Checks Redis by writing a key that expires after ten seconds."""
    try:
        client = redis_client(RedisSettings(url=url).url, ANSWER_SECONDS, name="nexus-doctor")
    except ValidationError as error:
        return [_no_address("redis", error)]
    try:
        return [await _redis(client, tell)]
    except RedisError as error:
        return [_refused_by_redis(error)]
    except OSError as error:
        return [wrong("redis", masked_text(str(error)), "start Redis, or point NEXUS_REDIS_URL at one")]
    finally:
        await client.aclose()


async def median_duration(command: Callable[[], Awaitable[object]]) -> float:
    """Median duration of the command in seconds, over ATTEMPTS runs or as many as decide whether it is slow. The pauses
    keep all runs from falling into a short moment in which a store that keeps freezing answers."""
    durations: list[float] = []
    end = time.perf_counter() + MEASURE_SECONDS
    while len(durations) < ATTEMPTS and (start := time.perf_counter()) < end:
        await command()
        durations.append(time.perf_counter() - start)
        if sum(duration <= SLOW_SECONDS for duration in durations) > ATTEMPTS // 2:
            break
        await asyncio.sleep(PAUSE_SECONDS)
    return statistics.median_low(durations)


def _no_address(store: str, error: ValidationError | PyMongoError) -> Diagnosis:
    advice = error.errors()[0]["msg"] if isinstance(error, ValidationError) else masked_text(str(error))
    return wrong(store, f"NEXUS_{store.upper()}_URL is no address", advice.removeprefix("Value error, "))


async def _redis(client: Redis, tell: ReportClock) -> Diagnosis:
    await client.ping()  # pyright: ignore[reportUnknownMemberType, reportGeneralTypeIssues]
    start = time.time()
    seconds, micros = await client.time()  # pyright: ignore[reportUnknownMemberType, reportGeneralTypeIssues]
    tell("redis", seconds + micros / 1e6 - (start + time.time()) / 2)
    latency = await median_duration(lambda: client.set(PROBE_KEY, "1", ex=10))
    if latency > SLOW_SECONDS:
        advice = "look at its load, its disk and the network between: `redis-cli --latency`, `redis-cli slowlog get`"
        return wrong("redis", f"slow: {latency * 1000:.0f} ms for a small command", advice)
    if missing := await lost_servers(client):
        return wrong("redis", f"of the cluster {', '.join(missing)} is away; the others serve", "start it again")
    return fine("redis", f"takes a write; {latency * 1000:.1f} ms")


def _refused_by_redis(error: RedisError) -> Diagnosis:
    text = masked_text(str(error)) or type(error).__name__
    if isinstance(error, ReadOnlyError):
        return wrong(
            "redis",
            "read-only: it is a replica, or a primary that was replaced",
            "point NEXUS_REDIS_URL at the primary, or promote this one: `redis-cli replicaof no one`",
        )
    if isinstance(error, NoPermissionError):
        advice = f"allow the user in NEXUS_REDIS_URL what services need: `ACL SETUSER NAME {REDIS_PERMISSIONS}`"
        return wrong("redis", f"it does not allow what is needed: {text}", advice)
    if isinstance(error, AuthenticationError) or text.startswith(("NOAUTH", "WRONGPASS")):
        return wrong("redis", f"it refuses the password: {text}", "put the right one into NEXUS_REDIS_URL")
    if isinstance(error, RedisTimeout):
        return wrong("redis", f"no answer within {ANSWER_SECONDS:g} s: {text}", STANDS_STILL)
    if text.startswith("CLUSTERDOWN"):
        advice = "start the missing servers of the cluster: `redis-cli cluster nodes` names them"
        return wrong("redis", f"a part of the cluster is away: {text}", advice)
    if "max number of clients" in text:
        advice = "raise maxclients; `redis-cli client list` says who holds the connections"
        return wrong("redis", f"it takes no more connections: {text}", advice)
    if isinstance(error, ConnectionError):
        advice = remedy("Redis", text) or "start Redis, or point NEXUS_REDIS_URL at one"
        return wrong("redis", text, advice)
    if "OOM" in text or "maxmemory" in text:
        return wrong("redis", f"its memory is full: {text}", "raise maxmemory; let nothing else live in this Redis")
    if isinstance(error, ResponseError) and "MISCONF" in text:
        return wrong("redis", f"it cannot write to its disk: {text}", "make room on its disk")
    return wrong("redis", text, "look at its log")


async def mongodb(url: str, database: str, tell: ReportClock) -> list[Diagnosis]:
    """Checks MongoDB by writing one document, always the same."""
    try:
        options = MongoSettings(url=url, deadline=ANSWER_SECONDS).client_options
        client: AsyncMongoClient[dict[str, object]] = AsyncMongoClient(url, **options)
    except (ValidationError, PyMongoError) as error:
        return [_no_address("mongodb", error)]
    try:
        begin, begin_time = time.perf_counter(), time.time()
        answer = await client.admin.command("hello")
        round_trip = time.perf_counter() - begin
        if isinstance(local := answer.get("localTime"), datetime):
            tell("mongodb", local.replace(tzinfo=UTC).timestamp() - (begin_time + round_trip / 2))
        collection = client[database]["doctor"]
        latency = await median_duration(
            lambda: collection.replace_one({"_id": PROBE_KEY}, {"_id": PROBE_KEY}, upsert=True)
        )
    except OperationFailure as error:
        text = masked_text(str(error.details.get("errmsg", error) if error.details else error))
        if error.code in {18, 13}:
            return [wrong("mongodb", f"it refuses the user: {text}", "put the right password into NEXUS_MONGODB_URL")]
        return [
            wrong(
                "mongodb",
                f"it takes no write: {text}",
                "has the replica set a primary, and its disk room? If a file is damaged: nexus restore",
            )
        ]
    except PyMongoError as error:
        text = driver_message(error)
        default_advice = STANDS_STILL if "timed out" in text else "start MongoDB, or point NEXUS_MONGODB_URL at one"
        advice = remedy("MongoDB", text) or default_advice
        return [wrong("mongodb", f"no answer: {text.removesuffix(f': {advice}')}", advice)]
    finally:
        await client.close()
    if latency > SLOW_SECONDS:
        advice = "look at its load, its disk and the network between: `db.currentOp()`; turns go on, looking back waits"
        return [wrong("mongodb", f"slow: {latency * 1000:.0f} ms for a small write", advice)]
    return [fine("mongodb", f"takes a write; {latency * 1000:.1f} ms")]
