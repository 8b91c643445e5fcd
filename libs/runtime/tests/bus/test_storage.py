"""Streams past their end, a disk past its end, a cluster without a quorum: told, kept, gone on."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import orjson
import pytest
import structlog
from nats.aio.client import Client
from pymongo import AsyncMongoClient
from pymongo.errors import DuplicateKeyError, PyMongoError
from redis.asyncio import Redis
from redis.exceptions import RedisError

from contracts.streams import STREAMS, Stream
from runtime.bus.connection import connect, jetstream
from runtime.bus.publisher import Publisher
from runtime.bus.storage import CHECK_INTERVAL, REFUSAL_SECONDS, Storage
from runtime.bus.streams import ensure_streams
from runtime.errors import NotReadyError, NotStoredError, PublishTimeoutError
from runtime.lifecycle.health import Check
from runtime.settings import NatsSettings
from runtime.testing.cluster import run_nats_cluster
from runtime.testing.disk import SmallDisk
from runtime.testing.servers import MongoServer, NatsServer, ValkeyServer, eventually

SMALL = tuple(replace(stream, max_bytes=1024 * 1024) for stream in STREAMS)
SUBJECTS = {
    "CHAT": "chat.a.b.message.visitor.v1",
    "TURNS": "turn.a.b{number}.journal.v1",
    "TOOLS": "tools.call.requested.v1.x",
    "FACTS": "feedback.given.v1.a.b",
    "DLQ": "dlq.test.CHAT",
    "TRACES": "traces.recorded.v1.t.u.{number}",
    "WEBHOOKS": "webhooks.delivery.v1.a.b",
    "KNOWLEDGE": "knowledge.refresh.requested.v1.a",
    "UPLOADS": "uploads.v1.a.b.{number}",
}
BODY = b"x" * 60_000
PATIENCE = REFUSAL_SECONDS + 2 * CHECK_INTERVAL + 20


async def append(client: Client, stream: Stream, number: int, deadline: float = 30.0) -> None:
    subject = SUBJECTS[stream.name].format(number=number)
    await Publisher(client).append(
        subject, BODY, stream=stream.name, msg_id=f"{stream.name}-{number}", deadline=deadline
    )


async def fill(client: Client, stream: Stream, most: int) -> int:
    """Appends until one is not taken; how many were."""
    for number in range(most):
        try:
            await append(client, stream, number, deadline=2.0)
        except (NotStoredError, PublishTimeoutError):  # both say: try again
            return number
    return most


async def held(client: Client, stream: Stream) -> int:
    answer = orjson.loads((await client.request(f"$JS.API.STREAM.INFO.{stream.name}", b"", timeout=10)).data)
    return int(answer["state"]["messages"])


async def everywhere(client: Client, stream: Stream) -> bool:
    """Whether each copy has caught up and been heard of: a server that is killed before may come back without it."""
    answer = orjson.loads((await client.request(f"$JS.API.STREAM.INFO.{stream.name}", b"", timeout=10)).data)
    return all(one["current"] and one["active"] for one in answer["cluster"]["replicas"])


def check_of(client: Client, *streams: Stream) -> Check:
    return lambda: Storage.of(client).check(streams)


async def holds(check: Check) -> bool:
    try:
        await check()
    except NotReadyError:
        return False
    return True


async def is_told(check: Check) -> str:
    try:
        await check()
    except NotReadyError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("stream", [one for one in SMALL if one.discard == "new"], ids=lambda one: one.name)
async def test_a_stream_at_its_end_is_told_of_and_goes_on_when_there_is_room(
    nats_client: Client, stream: Stream
) -> None:
    await ensure_streams(nats_client, SMALL)
    check = check_of(nats_client, stream)
    await check()
    with structlog.testing.capture_logs() as told:
        taken = await fill(nats_client, stream, 100)
    assert 10 < taken < 20
    assert [line["stream"] for line in told if line["event"] == "storage.refuses"] == [stream.name]
    with pytest.raises(NotReadyError, match=f"stream {stream.name}: .*maximum bytes"):
        await check()
    assert await held(nats_client, stream) == taken
    await jetstream(nats_client).purge_stream(stream.name)
    await append(nats_client, stream, 1_000)
    await eventually(lambda: holds(check), PATIENCE)


@pytest.mark.parametrize("stream", [one for one in SMALL if one.discard == "old"], ids=lambda one: one.name)
async def test_a_stream_that_drops_its_oldest_never_refuses(nats_client: Client, stream: Stream) -> None:
    await ensure_streams(nats_client, SMALL)
    assert await fill(nats_client, stream, 40) == 40
    assert await held(nats_client, stream) < 20
    await Storage.of(nats_client).check([stream])


async def test_the_server_is_asked_once_in_a_while_however_often_readiness_is(nats_streams: Client) -> None:
    check = check_of(nats_streams, *STREAMS)
    await check()
    before = nats_streams.stats["out_msgs"]
    for _ in range(50):
        await check()
    assert nats_streams.stats["out_msgs"] == before


@pytest.fixture
async def on_small_disk(small_disk: SmallDisk) -> AsyncIterator[tuple[NatsServer, Client]]:
    """A server that may store more than its disk holds, as the embedded one may."""
    config = small_disk.path.with_name("server.conf")
    config.write_text("jetstream { max_file_store: 1TB }\n")
    server = NatsServer(small_disk.path)
    server.options = ("-c", str(config))
    server.start()
    client = await connect(NatsSettings(url=server.url, ping_interval=1), name="test")
    yield server, client
    await client.close()
    server.kill()


async def test_a_full_disk_is_told_of_and_after_a_restart_nothing_is_missing(
    small_disk: SmallDisk, on_small_disk: tuple[NatsServer, Client]
) -> None:
    server, client = on_small_disk
    await ensure_streams(client)
    chat = STREAMS[0]
    check = check_of(client, chat)
    taken = await fill(client, chat, 1_000)
    assert 100 < taken < 1_000
    assert "restart nats-server" in await is_told(check)
    small_disk.enlarge()
    # The server itself does not come back from it; whoever watches it has to start it again.
    server.restart()
    await append(client, chat, 1_000)
    assert await held(client, chat) >= taken + 1
    await eventually(lambda: holds(check), PATIENCE)


async def test_a_cluster_without_a_quorum_is_told_of(tmp_path: Path) -> None:
    with run_nats_cluster(tmp_path) as servers:
        client = await connect(NatsSettings(url=servers[0].url), name="test")
        await ensure_streams(client, STREAMS[:1], replicas=3, deadline=60)
        check = check_of(client, STREAMS[0])
        await eventually(lambda: holds(check), PATIENCE)
        await append(client, STREAMS[0], 1)
        await eventually(lambda: everywhere(client, STREAMS[0]))
        servers[1].kill()
        servers[2].kill()
        await eventually(lambda: is_told(check))
        assert "quorum" in await is_told(check)
        servers[1].start()
        await eventually(lambda: holds(check))
        await client.close()


async def test_redis_on_a_full_disk_says_so_keeps_what_it_took_and_goes_on(small_disk: SmallDisk) -> None:
    server = ValkeyServer(small_disk.path)
    server.start()
    client = Redis.from_url(server.url, socket_timeout=10)  # pyright: ignore[reportUnknownMemberType]
    taken = 0
    with contextlib.suppress(RedisError):
        while taken < 1_000:
            await client.set(f"k{taken}", b"x" * 60_000)
            taken += 1
            if taken % 50 == 0:
                # It writes its file behind its answers: a moment later it knows.
                await asyncio.sleep(0.05)
    assert taken < 1_000
    with pytest.raises(RedisError, match="AOF"):
        await client.set("more", b"1")
    small_disk.enlarge()

    async def goes_on() -> bool:
        try:
            return bool(await client.set("again", b"1"))
        except RedisError:
            return False

    await eventually(goes_on)
    assert await client.exists(*(f"k{number}" for number in range(taken))) == taken
    await client.aclose()
    server.kill()


async def test_mongodb_on_a_full_disk_says_so_keeps_what_it_took_and_goes_on(small_disk: SmallDisk) -> None:
    server = MongoServer(small_disk.path)
    server.start()
    client: AsyncMongoClient[dict[str, object]] = AsyncMongoClient(server.url, serverSelectionTimeoutMS=10_000)
    rows = client["test"]["rows"]
    taken = 0
    with contextlib.suppress(PyMongoError):
        while taken < 2_000:
            await rows.insert_one({"_id": taken, "text": "x" * 60_000})
            taken += 1
    assert taken < 2_000
    small_disk.enlarge()

    async def goes_on() -> bool:
        try:
            await rows.insert_one({"_id": "again"})
        except DuplicateKeyError:
            return True
        except PyMongoError:
            return False
        return True

    await eventually(goes_on)
    assert await rows.count_documents({"_id": {"$lt": taken}}) == taken
    await client.close()
    server.kill()
