"""MongoDB or Redis away for a while, with messages flowing: afterwards every worker goes on by itself."""

import asyncio
import time
from collections.abc import Callable
from uuid import uuid4

import orjson
import pytest
from nats.aio.client import Client

from contracts.conversation_rpc import CONVERSATION_MESSAGES, SNAPSHOT, MessagesRequest, SnapshotRequest
from contracts.envelope import CloudEvent
from contracts.events.fact import FeedbackGiven
from memory.testing.harness import Replica, Servers, Writer, replica
from runtime.bus.publisher import Publisher
from runtime.testing.network import Proxy, proxy_to
from runtime.testing.servers import ServerProcess, eventually, run_mongo_server, run_valkey_server

AWAY = 3.0
"""Seconds; longer than the driver waits for a connection, so that pools are emptied and retries have begun."""
CONSUMERS = ("CHAT.memory-projection", "FACTS.memory-ratings", "FACTS.memory-usage")

Fault = tuple[Callable[[Proxy, ServerProcess], None], Callable[[Proxy, ServerProcess], None]]


def refuse(proxy: Proxy, server: ServerProcess) -> None:
    del server
    proxy.refusing = True
    proxy.cut()


def accept(proxy: Proxy, server: ServerProcess) -> None:
    del server
    proxy.refusing = False
    proxy.cut()


FAULTS: dict[str, Fault] = {
    "killed": (lambda _, server: server.kill(), lambda _, server: server.start()),
    "stopped": (lambda _, server: server.pause(), lambda _, server: server.resume()),
    "cut": (refuse, accept),
    "answers held": (lambda proxy, _: proxy.hold_replies(), lambda proxy, _: proxy.release_replies()),
    "answers lost": (lambda proxy, _: proxy.hold_replies(), lambda proxy, _: proxy.cut()),
}


async def talk(on: Replica, writer: Writer, number: int) -> None:
    """One turn, and a rating of its answer."""
    said = await writer.visitor(f"m{number}", user="ana")
    await writer.assistant(f"a{number}", said)
    rating = CloudEvent(
        source="/test",
        type="feedback.given.v1",
        data=FeedbackGiven(
            company_id=writer.company,
            conversation_id=writer.conversation,
            message_id=str(uuid4()),
            user_id="ana",
            rating="up",
        ),
    )
    subject = f"feedback.given.v1.{writer.company}.-"
    await Publisher(on.client).append(subject, rating, stream="FACTS", msg_id=rating.id)


async def unsettled(client: Client) -> int:
    left = 0
    for consumer in CONSUMERS:
        answer = orjson.loads((await client.request(f"$JS.API.CONSUMER.INFO.{consumer}", b"", timeout=10)).data)
        left += answer["num_ack_pending"] + answer["num_pending"]
    return left


async def all_is_well(on: Replica, writers: list[Writer], turns: int) -> None:
    """Every worker is done with what came, and every conversation is answered for and stored."""

    async def nothing_left() -> bool:
        return await unsettled(on.client) == 0

    await eventually(nothing_left)
    for writer in writers:
        ref = {"companyId": writer.company, "conversationId": writer.conversation}

        async def answered(ref: dict[str, str] = ref) -> bool:
            told = (await on.rpc.call(SNAPSHOT, SnapshotRequest.model_validate(ref))).messages
            return [one.text for one in told][-2:] == [f"m{turns - 1}", f"a{turns - 1}"]

        await eventually(answered)
        stored = (await on.rpc.call(CONVERSATION_MESSAGES, MessagesRequest.model_validate(ref))).items
        assert [one.text for one in stored] == [text for n in range(turns) for text in (f"m{n}", f"a{n}")]
    report = await on.service.health.report()
    assert report.ready, report
    assert await stuck_because(on) == {}


async def stuck_because(on: Replica) -> dict[str, str]:
    for _ in range(6):
        await on.service.health.liveness.look()
    return on.service.health.liveness.stuck


async def outage(on: Replica, fault: Fault, proxy: Proxy, server: ServerProcess) -> None:
    writers = [Writer(on.client) for _ in range(4)]
    turns = 0

    async def everybody() -> None:
        nonlocal turns
        await asyncio.gather(*(talk(on, writer, turns) for writer in writers))
        turns += 1

    await everybody()
    begin, end = fault
    begin(proxy, server)
    until = time.monotonic() + AWAY
    while time.monotonic() < until:
        await everybody()
        assert await stuck_because(on) == {}
        await asyncio.sleep(0.2)
    end(proxy, server)
    await everybody()
    await all_is_well(on, writers, turns)


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_mongodb_was_away_every_worker_of_memory_goes_on(servers: Servers, fault: str) -> None:
    with run_mongo_server() as mongo:
        async with proxy_to(mongo.url) as proxy, replica(Servers(servers.nats, proxy.url, "test", servers.redis)) as on:
            await outage(on, FAULTS[fault], proxy, mongo)


@pytest.mark.parametrize("fault", FAULTS)
async def test_after_redis_was_away_every_worker_of_memory_goes_on(servers: Servers, fault: str) -> None:
    with run_valkey_server() as valkey:
        async with (
            proxy_to(valkey.url) as proxy,
            replica(Servers(servers.nats, servers.mongo, servers.database, proxy.url)) as on,
        ):
            await outage(on, FAULTS[fault], proxy, valkey)
