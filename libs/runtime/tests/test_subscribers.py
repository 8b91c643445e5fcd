"""Durable consumers: what is raised is tried again, what does not fit is buried, nothing is lost."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.envelope import CloudEvent, Wire
from runtime.advisories import Advisories
from runtime.connection import subscribe
from runtime.consumers import ConsumerSpec, ensure_consumer
from runtime.dead_letters import DeadLetters, Letter
from runtime.outcomes import Outcome
from runtime.publisher import Publisher
from runtime.service import Service
from runtime.settings import NatsSettings
from runtime.subscribers import Ack, DeadLetter, Retry, current_delivery
from runtime.testing import NatsServer, eventually

SUBJECT = "feedback.given.v1.acme.-"


class Feedback(Wire):
    message_id: str


class Handler:
    """Answers or raises what it is told to, and writes down the attempts."""

    def __init__(self, *outcomes: Outcome | Exception | None) -> None:
        self.outcomes = list(outcomes)
        self.attempts: list[int] = []
        self.seen: list[str] = []

    async def __call__(self, event: CloudEvent[Feedback]) -> Outcome | None:
        self.attempts.append(current_delivery().num_delivered)
        self.seen.append(event.data.message_id)
        outcome = self.outcomes.pop(0) if self.outcomes else None
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@asynccontextmanager
async def consumer(server: NatsServer, handler: Handler, max_deliver: int = 10) -> AsyncGenerator[Service]:
    service = Service("memory", nats=NatsSettings(url=server.url), port=None)

    async def on_feedback(event: CloudEvent[Feedback]) -> Outcome | None:
        return await handler(event)

    decorate = service.subscriber(
        "feedback.given.v1.>", stream="FACTS", durable="memory-feedback", max_deliver=max_deliver
    )
    decorate(on_feedback)
    await service.start()
    try:
        yield service
    finally:
        await service.stop()


async def publish(client: Client, name: str) -> None:
    event = CloudEvent[Feedback](source="/test", type="feedback.given.v1", data=Feedback(message_id=name))
    await Publisher(client).append(SUBJECT, event, stream="FACTS", msg_id=name)


async def settled(client: Client) -> bool:
    answer = await client.request("$JS.API.CONSUMER.INFO.FACTS.memory-feedback", b"", timeout=10)
    info = orjson.loads(answer.data)
    return info["num_ack_pending"] == 0 and info["num_pending"] == 0


async def letters(client: Client) -> list[Letter]:
    return await DeadLetters(client).list()


async def test_an_event_is_checked_handled_and_acknowledged(nats_server: NatsServer, nats_streams: Client) -> None:
    handler = Handler(None, Ack())
    async with consumer(nats_server, handler):
        await publish(nats_streams, "m1")
        await publish(nats_streams, "m2")
        await eventually(lambda: handler.seen == ["m1", "m2"])
        await eventually(lambda: settled(nats_streams))
    assert not await letters(nats_streams)


async def test_a_failure_is_tried_again_and_so_is_a_retry(nats_server: NatsServer, nats_streams: Client) -> None:
    handler = Handler(RuntimeError("away"), Retry(0.05), None)
    async with consumer(nats_server, handler):
        await publish(nats_streams, "m1")
        await eventually(lambda: handler.attempts == [1, 2, 3])
        await eventually(lambda: settled(nats_streams))
    assert not await letters(nats_streams)


async def test_what_does_not_fit_its_contract_is_buried_at_once(nats_server: NatsServer, nats_streams: Client) -> None:
    handler = Handler()
    async with consumer(nats_server, handler):
        await Publisher(nats_streams).append(SUBJECT, b'{"data":{"messageId":7}}', stream="FACTS", msg_id="1")
        await Publisher(nats_streams).append(SUBJECT, b"\xff not json", stream="FACTS", msg_id="2")
        await publish(nats_streams, "good")
        await eventually(lambda: handler.seen == ["good"])
        await eventually(lambda: settled(nats_streams))
    buried = await letters(nats_streams)
    assert [one.body for one in buried] == [b'{"data":{"messageId":7}}', b"\xff not json"]
    assert all("contract" in one.reason for one in buried)
    assert {(one.service, one.stream, one.subject) for one in buried} == {("memory", "FACTS", SUBJECT)}


async def test_the_last_failure_and_a_handlers_own_verdict_bury_the_message(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    handler = Handler(RuntimeError("one"), RuntimeError("two"), DeadLetter("of no use"))
    async with consumer(nats_server, handler, max_deliver=2):
        await publish(nats_streams, "m1")
        await eventually(lambda: handler.attempts == [1, 2])
        await publish(nats_streams, "m2")
        await eventually(lambda: handler.attempts == [1, 2, 1])
        await eventually(lambda: settled(nats_streams))
    first, second = await letters(nats_streams)
    assert "failed 2 times" in first.reason
    assert "two" in first.reason
    assert second.reason == "of no use"


async def test_consuming_goes_on_after_the_server_came_back_with_an_empty_disk(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    handler = Handler()
    async with consumer(nats_server, handler):
        await publish(nats_streams, "before")
        await eventually(lambda: handler.seen == ["before"])
        nats_server.kill()
        nats_server.wipe()
        nats_server.start()
        await publish(nats_streams, "after")
        await eventually(lambda: handler.seen == ["before", "after"])


async def test_a_message_that_kills_its_service_is_buried_by_the_servers_advisory(nats_streams: Client) -> None:
    spec = ConsumerSpec("FACTS", "deadly", ("feedback.given.v1.>",), ack_wait=0.2, max_deliver=1)
    await ensure_consumer(nats_streams, spec)
    await Advisories(nats_streams, "memory", {("FACTS", "deadly")}).start()
    await publish(nats_streams, "m1")
    # Takes the message and never says anything, as a process that dies of it; then asks for more.
    taken: list[bytes] = []

    async def take(message: Msg) -> None:
        taken.append(message.data)

    inbox = nats_streams.new_inbox()
    await subscribe(nats_streams, inbox, take)
    for _ in range(2):
        await nats_streams.publish(
            "$JS.API.CONSUMER.MSG.NEXT.FACTS.deadly", b'{"batch":1,"expires":5000000000}', reply=inbox
        )
    (letter,) = await eventually(lambda: letters(nats_streams))
    assert len(taken) == 1
    assert "never acknowledged" in letter.reason
    assert (letter.subject, letter.origin_seq, letter.deliveries) == (SUBJECT, 1, 1)
