"""`nexus doctor --live`, each fault staged at real servers: those of the bus and of the stores."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import orjson
import pytest
from nats.aio.client import Client
from redis.asyncio import Redis

from contracts.channels import TOOL_REQUESTS
from contracts.streams import CHAT, STREAMS
from nexus_cli.diagnosis import room
from nexus_cli.doctor import bus, certificates, clocks, live, stores
from nexus_cli.doctor.diagnosis import Diagnosis, wrong
from nexus_cli.target import Addresses
from nexus_cli.testing.stacks import production_nats
from runtime.bus.connection import connect
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.errors import RuntimeLibraryError
from runtime.settings import NatsSettings
from runtime.testing.cluster import run_nats_cluster, urls
from runtime.testing.disk import SmallDisk
from runtime.testing.network import proxy_to
from runtime.testing.servers import MongoDatabase, NatsServer, ValkeyServer, eventually
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.outcomes import Outcome
from runtime.workers.pull_worker import Ack, Delivery, PullWorker, Retry
from tests.cluster.certificates import make_certificates

CHAT_SUBJECT = "chat.demo.c1.message.visitor.v1"
WITHIN = 4 * live.CHECK_SECONDS
"""Seconds for checks that run beside each other, each for at most CHECK_SECONDS, on a slow machine too."""


def said(found: Sequence[Diagnosis], subject: str, *words: str) -> bool:
    """Whether one finding of the subject is wrong, says what to do, and holds the words."""
    return any(
        one.subject == subject
        and one.state == "wrong"
        and one.advice
        and all(word in f"{one.text}: {one.advice}" for word in words)
        for one in found
    )


async def nothing(_: Delivery) -> Outcome:
    return Ack()


@asynccontextmanager
async def consumers(client: Client) -> AsyncGenerator[None]:
    """The three without which nobody is answered, with nothing to do."""
    spec = {"CHAT": ("agent", "memory-projection"), "TOOLS": ("tool-executor",)}
    subjects = {"CHAT": "chat.>", "TOOLS": TOOL_REQUESTS}
    workers = [PullWorker(client, on, name, [subjects[on]], nothing) for on, names in spec.items() for name in names]
    for worker in workers:
        await worker.start()
    try:
        yield
    finally:
        for worker in workers:
            await worker.drain(0.5)


async def test_a_bus_on_which_all_is_well(nats_streams: Client) -> None:
    async with consumers(nats_streams):
        await Publisher(nats_streams).append(CHAT_SUBJECT, b"{}", stream="CHAT", msg_id="1")
        assert [one.state for one in await bus.look(nats_streams)] == ["ok"]


async def test_a_service_that_is_nowhere_is_one_finding(nats_server: NatsServer, nats_streams: Client) -> None:
    del nats_streams
    addresses = Addresses(nats_server.url, services={"agent": ["http://127.0.0.1:1"]})
    (agent,) = [one for one in await live.examine(addresses, "demo") if one.subject == "agent"]
    assert "nobody serves its methods" in agent.text


@pytest.mark.own_servers
async def test_a_bus_that_is_not_there_or_stands_still(nats_server: NatsServer) -> None:
    nats_server.pause()
    began = time.monotonic()
    nobody = Addresses("nats://127.0.0.1:1")
    gone, frozen = await asyncio.gather(live.examine(nobody, "demo"), live.examine(Addresses(nats_server.url), "demo"))
    assert said(gone, "nats", "no NATS server answered", "start nats-server")
    assert said(frozen, "nats", "no NATS server answered", "stands still")
    assert time.monotonic() - began < WITHIN
    nats_server.resume()


async def test_a_password_that_the_bus_refuses(tmp_path: Path) -> None:
    with production_nats(tmp_path) as server:
        found = await live.examine(Addresses(f"nats://operator:wrong@{server.address}"), "demo")
    assert said(found, "nats", "refuses the user")
    assert "wrong@" not in str(found)


async def test_a_bus_without_jetstream(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)
    server.options = ("-js=false",)
    server.start()
    client = await connect(NatsSettings(url=server.url), name="test")
    try:
        assert said(await bus.look(client), "nats", "JetStream does not answer")
    finally:
        await client.close()
        server.kill()


async def test_a_cluster_without_a_quorum(tmp_path: Path) -> None:
    with run_nats_cluster(tmp_path) as servers:
        client = await connect(NatsSettings(url=servers[0].url), name="test")
        await ensure_streams(client, STREAMS[:1], replicas=3, deadline=60)
        servers[1].kill()
        servers[2].kill()

        async def named() -> bool:
            began = time.monotonic()
            found = await live.examine(Addresses(urls(servers)), "demo")
            assert time.monotonic() - began < WITHIN
            return (
                said(found, "stream CHAT", "quorum")
                or said(found, "nats", "quorum")
                or said(found, "stream CHAT", "most of its nats-servers are away")
            )

        await eventually(named)
        await client.close()


def test_a_quorum_that_several_streams_lack_is_one_finding() -> None:
    lack = [wrong(f"stream {one.name}", "no quorum", bus.QUORUM_ADVICE) for one in STREAMS[:2]]
    full = wrong("stream DLQ", "full", "make room")
    first, *others = bus.with_one_cause([*lack, full])
    assert said([first], "nats", "no quorum", "CHAT, TURNS", "start the missing nats-servers")
    assert others == [full]
    assert bus.with_one_cause(lack[1:]) == lack[1:]


async def test_a_stream_that_is_missing(nats_client: Client) -> None:
    await ensure_streams(nats_client, STREAMS[1:])
    assert said(await bus.look(nats_client), "stream CHAT", "missing")


async def test_a_stream_that_somebody_has_changed(nats_client: Client) -> None:
    facts = next(one for one in STREAMS if one.name == "FACTS")
    others = [one for one in STREAMS if one.name not in {"CHAT", "FACTS"}]
    await ensure_streams(
        nats_client,
        [replace(CHAT, discard="old", republish=None), replace(facts, subjects=facts.subjects[1:]), *others],
    )
    found = await bus.look(nats_client)
    assert said(found, "stream FACTS", "changed", f"it does not take {facts.subjects[0]}")
    assert said(found, "stream CHAT", "changed", "discard is old and must be new", "republish is None")


async def test_a_stream_that_is_full(nats_client: Client) -> None:
    await ensure_streams(nats_client, [replace(CHAT, max_bytes=1024 * 1024), *STREAMS[1:]])
    publisher = Publisher(nats_client)
    with suppress(RuntimeLibraryError):
        for number in range(1_000):
            await publisher.append(CHAT_SUBJECT, b"x" * 10_000, stream="CHAT", msg_id=str(number), deadline=1.0)
    assert said(await bus.look(nats_client), "stream CHAT", "full")


@pytest.mark.own_servers
async def test_a_stream_whose_consumer_has_a_damaged_file(nats_server: NatsServer, nats_streams: Client) -> None:
    async with consumers(nats_streams):
        pass
    nats_server.stop()
    (file,) = (nats_server.directory / "store").glob("jetstream/*/streams/CHAT/obs/agent/meta.inf")
    file.write_bytes(file.read_bytes().replace(b'"ack_policy"', b'"ack_p?licy"'))
    nats_server.start()

    async def told() -> bool:
        return said(await bus.look(nats_streams), "stream CHAT", "offline", "move the file's directory away")

    await eventually(told)


async def test_a_consumer_that_is_missing(nats_streams: Client) -> None:
    found = await bus.look(nats_streams)
    for durable, owner in (("agent", "agent"), ("memory-projection", "memory"), ("tool-executor", "tool-executor")):
        assert said(found, f"consumer {durable}", "missing", owner)


async def test_a_consumer_that_nobody_asks_of(nats_streams: Client) -> None:
    async with consumers(nats_streams):
        pass
    await Publisher(nats_streams).append(CHAT_SUBJECT, b"{}", stream="CHAT", msg_id="1")
    assert said(await bus.look(nats_streams), "consumer agent", "1 messages of CHAT wait", "nobody asks")


async def test_a_consumer_that_somebody_has_paused(nats_streams: Client) -> None:
    async with consumers(nats_streams):
        until = {"pause_until": "2099-01-01T00:00:00Z"}
        await nats_streams.request("$JS.API.CONSUMER.PAUSE.CHAT.agent", orjson.dumps(until))
        found = await bus.look(nats_streams)
        assert said(found, "consumer agent", "paused it until 2099", "nats consumer resume CHAT agent")
        assert len([one for one in found if one.subject == "consumer agent"]) == 1


async def test_a_message_at_which_its_handler_fails(nats_streams: Client) -> None:
    async def fails(_: Delivery) -> Outcome:
        raise ValueError("poison")

    worker = PullWorker(nats_streams, "CHAT", "memory-projection", ["chat.>"], fails)
    await worker.start()
    await Publisher(nats_streams).append(CHAT_SUBJECT, b"{}", stream="CHAT", msg_id="1")

    async def named() -> bool:
        return said(await bus.look(nats_streams), "consumer memory-projection", "message 1", "again and again")

    await eventually(named)
    await worker.drain(0.5)


async def test_a_webhook_that_its_receiver_refuses_is_no_fault_of_ours(nats_streams: Client) -> None:
    async def refused(_: Delivery) -> Outcome:
        return Retry(delay=0.1)

    worker = PullWorker(nats_streams, "WEBHOOKS", bus.WEBHOOK_CONSUMER, ["webhooks.>"], refused)
    await worker.start()
    await Publisher(nats_streams).append("webhooks.delivery.v1.demo.e1", b"{}", stream="WEBHOOKS", msg_id="1")

    async def named() -> bool:
        return any(one.subject == "webhooks" and one.state == "note" for one in await bus.look(nats_streams))

    await eventually(named)
    await worker.drain(0.5)


async def test_a_store_comes_before_what_waits_for_it_and_dead_letters_last(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    letters = DeadLetters(nats_streams)
    await letters.put(service="memory", stream="CHAT", subject=CHAT_SUBJECT, body=b"{", reason="no JSON", origin_seq=7)
    found = await live.examine(Addresses(nats_server.url, redis="redis://127.0.0.1:1"), "demo")
    assert said(found, "dead letters", "memory", CHAT_SUBJECT, "no JSON")
    wrong_ones = [one.subject for one in found if one.state == "wrong"]
    assert len(wrong_ones) > 2
    assert (wrong_ones[0], wrong_ones[-1]) == ("redis", "dead letters")


# ---------------------------------------------------------------- stores


def no_clock(_who: str, _ahead: float) -> None:
    """Takes a clock and keeps nothing."""


@pytest.mark.own_servers
async def test_redis_is_well_read_only_full_frozen_and_gone(valkey_server: ValkeyServer) -> None:
    ahead: dict[str, float] = {}
    assert [one.state for one in await stores.redis(valkey_server.url, ahead.__setitem__)] == ["ok"]
    assert abs(ahead["redis"]) < clocks.MAX_OFFSET_SECONDS
    client = Redis.from_url(valkey_server.url)  # pyright: ignore[reportUnknownMemberType]
    await client.execute_command("REPLICAOF", "127.0.0.1", "1")  # pyright: ignore[reportUnknownMemberType]
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "read-only")
    await client.execute_command("REPLICAOF", "NO", "ONE")  # pyright: ignore[reportUnknownMemberType]
    for allowed, said_of_it in ((stores.REDIS_PERMISSIONS, "takes a write"), ("resetkeys ~other:*", "does not allow")):
        await client.execute_command("ACL", "SETUSER", "some", "on", ">pw", *allowed.split())  # pyright: ignore[reportUnknownMemberType]
        limited = valkey_server.url.replace("redis://", "redis://some:pw@")
        assert [said_of_it in one.text for one in await stores.redis(limited, no_clock)] == [True]
    await client.config_set("maxmemory", "1")  # pyright: ignore[reportUnknownMemberType]
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "memory is full")
    await client.config_set("maxmemory", "0")  # pyright: ignore[reportUnknownMemberType]
    await client.config_set("maxclients", "1")  # pyright: ignore[reportUnknownMemberType]
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "no more connections", "maxclients")
    await client.config_set("maxclients", "100")  # pyright: ignore[reportUnknownMemberType]
    await client.config_set("requirepass", "s3cret")  # pyright: ignore[reportUnknownMemberType]
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "refuses the password")
    await client.aclose()
    valkey_server.pause()
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "no answer")
    valkey_server.resume()
    valkey_server.kill()
    assert said(await stores.redis(valkey_server.url, no_clock), "redis", "Connect call failed")


async def test_addresses_that_can_be_none_are_named_with_what_to_write() -> None:
    assert said(await stores.redis("redis+cluster://one", no_clock), "redis", "NEXUS_REDIS_URL")
    assert said(await stores.mongodb("mongodb://one:port", "nexus", no_clock), "mongodb", "NEXUS_MONGODB_URL")


@pytest.mark.parametrize(
    ("answers", "slow"),
    [([1.1, 0, 0, 0], False), ([1.1, 0, 1.1, 0, 0], False), ([0, 1.1, 0, 1.1, 1.1], True), ([11], True)],
    ids=["one of them late", "two of them", "most of them", "one that takes all the time"],
)
async def test_a_store_is_as_slow_as_most_of_its_answers(
    answers: list[float], slow: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, left = 0.0, iter(answers)
    monkeypatch.setattr(stores, "time", SimpleNamespace(perf_counter=lambda: now))
    monkeypatch.setattr(stores, "PAUSE_SECONDS", 0)

    async def command() -> None:
        nonlocal now
        now += next(left) * stores.SLOW_SECONDS

    assert (await stores.median_duration(command) > stores.SLOW_SECONDS) is slow
    assert next(left, None) is None


async def test_redis_far_away(valkey_server: ValkeyServer) -> None:
    async with proxy_to(valkey_server.url) as proxy:
        proxy.delay = 0.5
        assert said(await stores.redis(proxy.url, no_clock), "redis", "slow")


async def test_mongodb_is_well_slow_and_gone(mongo_server: MongoDatabase) -> None:
    ahead: dict[str, float] = {}
    database = mongo_server.database
    assert [one.state for one in await stores.mongodb(mongo_server.url, database, ahead.__setitem__)] == ["ok"]
    async with proxy_to(mongo_server.url) as proxy:
        proxy.delay = 0.3
        assert said(await stores.mongodb(proxy.url, database, no_clock), "mongodb", "slow")
        proxy.refusing = True
        proxy.cut()
        assert said(await stores.mongodb(proxy.url, database, no_clock), "mongodb", "no answer")


# ---------------------------------------------------------------- certificates, clocks, disks


@pytest.mark.parametrize("server", ["nats", "gateway"])
async def test_a_certificate_that_has_expired(tmp_path: Path, server: str) -> None:
    make_certificates(tmp_path, good_until=datetime.now(UTC) - timedelta(days=1))
    key, certificate = str(tmp_path / "server.key"), str(tmp_path / "server.pem")
    if server == "nats":
        nats = NatsServer(tmp_path / "nats")
        nats.options = ("--tls", "--tlscert", certificate, "--tlskey", key)
        nats.start()
        found = await live.examine(Addresses(nats.url.replace("nats://", "tls://")), "demo")
        nats.kill()
        assert said(found, "certificate", "nats", "expired")
        assert said(found, "nats", "a certificate is refused")
        assert any("name its authority, NEXUS_NATS_TLS_CA" in (one.advice or "") for one in found)
        return
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context) as https:
        url = f"https://127.0.0.1:{https.sockets[0].getsockname()[1]}"
        assert said(await certificates.look({"gateway": url, "redis": "redis://nowhere"}), "certificate", "expired")
        # Each server of a cluster has a certificate of its own.
        place = url.partition("//")[2]
        for several in (f"mongodb://u:p@127.0.0.1:9,{place}/nexus?tls=true&x=a,b", f"rediss://:p@127.0.0.1:9,{place}"):
            assert said(await certificates.look({"store": several}), "certificate", place, "expired")


@pytest.mark.parametrize(("off", "who"), [({"redis": -60.0}, "redis"), ({"nats": 60.0, "redis": 61.0}, clocks.HERE)])
async def test_a_clock_that_is_off_by_a_minute(off: dict[str, float], who: str) -> None:
    assert clocks.compare({"nats": 0.01, "redis": 0.02}) == []
    found = (
        clocks.compare({"nats": 0.01, "redis": 0.02, "mongodb": 0.0, "agent": 0.4} | off)
        if len(off) == 1
        else (clocks.compare({"mongodb": 60.5} | off))
    )
    assert [one.subject for one in found] == ["clock"]
    assert who in found[0].text
    assert "60 s" in found[0].text or "61 s" in found[0].text


async def test_the_clock_of_this_machine_at_real_servers(
    nats_server: NatsServer, nats_streams: Client, valkey_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    del nats_streams
    now: Callable[[], float] = time.time
    monkeypatch.setattr(time, "time", lambda: now() - 60)
    found = await live.examine(Addresses(nats_server.url, redis=valkey_server.url), "demo")
    monkeypatch.undo()
    assert said(found, "clock", clocks.HERE, "60 s behind")


def test_a_disk_that_is_nearly_full(small_disk: SmallDisk) -> None:
    assert said([room(small_disk.path)], "disk", "free")
