"""Small facts in batches on a real server: each is settled for itself, none is lost, a lone one costs two messages."""

import asyncio
from collections.abc import Sequence
from functools import partial

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg
from pydantic import BaseModel

from runtime.bus.connection import subscribe
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.lifecycle.service import Service
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.batch_worker import BatchWorker, Handler, each_event
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.outcomes import Ack, AckAfter, Outcome, Retry
from runtime.workers.pull_worker import Delivery

DURABLE = "memory-things"
SUBJECT = "feedback.given.v1.acme.-"
SPEC = ConsumerSpec("FACTS", DURABLE, (SUBJECT,))


class Thing(BaseModel):
    name: str


async def tell(client: Client, *names: str) -> None:
    for name in names:
        body = b"no thing" if name == "misfit" else orjson.dumps({"name": name})
        await Publisher(client).append(SUBJECT, body, stream="FACTS", msg_id=name)


async def waiting(client: Client, unacknowledged: int) -> bool:
    """Whether everything is delivered, and so many messages are not acknowledged."""
    answer = await client.request(f"$JS.API.CONSUMER.INFO.FACTS.{DURABLE}", b"", timeout=10)
    info = orjson.loads(answer.data)
    return (info["num_ack_pending"], info["num_pending"]) == (unacknowledged, 0)


async def settled(client: Client) -> bool:
    return await waiting(client, 0)


def noting(seen: list[str]) -> Handler:
    """Handles each by writing down its name."""

    async def take(delivery: Delivery, thing: Thing) -> Outcome:
        del delivery
        seen.append(thing.name)
        return Ack()

    return each_event(Thing, take)


def worker(client: Client, handler: Handler) -> BatchWorker:
    return BatchWorker(client, SPEC, handler, service="memory")


async def test_each_of_a_batch_is_settled_for_itself(nats_streams: Client) -> None:
    seen: list[str] = []

    async def take(delivery: Delivery, thing: Thing) -> Outcome:
        seen.append(thing.name)
        if thing.name == "later" and delivery.num_delivered == 1:
            return Retry(0.01)
        if thing.name == "broken" and delivery.num_delivered == 1:
            raise ValueError("broken")
        return Ack()

    await tell(nats_streams, "one", "misfit", "later", "broken", "two")
    one = worker(nats_streams, each_event(Thing, take))
    await one.start()
    await eventually(lambda: settled(nats_streams))
    assert sorted(seen) == ["broken", "broken", "later", "later", "one", "two"]
    (letter,) = await DeadLetters(nats_streams).list()
    assert (letter.service, letter.stream, letter.body) == ("memory", "FACTS", b"no thing")
    assert "does not fit its contract" in letter.reason
    await one.drain()


async def test_a_batch_that_fails_as_a_whole_comes_again_or_is_taken_one_by_one(nats_streams: Client) -> None:
    batches: list[list[bytes]] = []
    away = True

    async def handle(deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
        nonlocal away
        batches.append([delivery.data for delivery in deliveries])
        if away:
            away = False
            raise RpcError("UNAVAILABLE", "away", retryable=True)
        if len(deliveries) > 1:
            raise ValueError("one of them is broken")
        return [Ack()]

    await tell(nats_streams, "one", "two", "three")
    one = worker(nats_streams, handle)
    await one.start()
    await eventually(lambda: settled(nats_streams))
    assert len(batches[0]) == 3
    assert {len(batch) for batch in batches[1:]} >= {1}
    assert {body for batch in batches[1:] for body in batch} == set(batches[0])
    await one.drain()


async def test_work_after_a_message_delays_no_other_batch_and_if_it_fails_the_message_comes_again(
    nats_streams: Client,
) -> None:
    slow, tried = asyncio.Event(), list[int]()

    async def handle(deliveries: Sequence[Delivery]) -> Sequence[Outcome | AckAfter]:
        return [AckAfter(partial(work, delivery)) if b"first" in delivery.data else Ack() for delivery in deliveries]

    async def work(delivery: Delivery) -> None:
        tried.append(delivery.num_delivered)
        await slow.wait()
        if delivery.num_delivered == 1:
            raise ValueError("not yet")

    one = worker(nats_streams, handle)
    await tell(nats_streams, "first")
    await one.start()
    await eventually(lambda: tried == [1])
    await tell(nats_streams, "second")
    await eventually(lambda: waiting(nats_streams, 1))
    slow.set()
    await eventually(lambda: settled(nats_streams))
    assert tried == [1, 2]
    await one.drain()


async def test_a_lone_fact_costs_its_delivery_and_its_acknowledgement(nats_streams: Client) -> None:
    said: list[str] = []

    async def heard(message: Msg) -> None:
        said.append(message.subject)

    async def take(delivery: Delivery, thing: Thing) -> Outcome:
        del delivery, thing
        return Ack()

    one = worker(nats_streams, each_event(Thing, take))
    await one.start()
    await nats_streams.flush()
    await subscribe(nats_streams, "$JS.>", heard)
    for name in ("a", "b", "c"):
        await tell(nats_streams, name)
        await eventually(lambda name=name: sum(one.startswith("$JS.ACK.") for one in said) == " abc".index(name))
    assert [subject for subject in said if not subject.startswith("$JS.ACK.")] == []
    await one.drain()


@pytest.mark.own_servers
async def test_what_was_not_settled_at_the_end_is_delivered_again(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    seen: list[str] = []
    one = worker(nats_streams, noting(seen))
    await one.start()
    await tell(nats_streams, "a")
    await eventually(lambda: settled(nats_streams))
    nats_server.restart()
    await tell(nats_streams, "b")
    await eventually(lambda: "b" in seen)
    assert one.stuck_because() is None
    await one.drain()
    await tell(nats_streams, "c")
    two = worker(nats_streams, noting(seen))
    await two.start()
    await eventually(lambda: seen == ["a", "b", "c"])
    await two.drain()


@pytest.mark.own_servers
async def test_a_service_goes_on_after_the_server_came_back_with_an_empty_disk(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    seen: list[str] = []
    service = Service("memory", nats=NatsSettings(url=nats_server.url), port=None)

    async def build() -> None:
        service.add_worker(worker(service.nats, noting(seen)))

    service.on_start(build)
    await service.start()
    await tell(nats_streams, "before")
    await eventually(lambda: seen == ["before"])
    nats_server.kill()
    nats_server.wipe()
    nats_server.start()
    await tell(nats_streams, "after")
    await eventually(lambda: seen == ["before", "after"])
    await service.stop()
