"""The simulated bus is asked the same as the real nats-server, by the same client, and must answer the same."""

import asyncio
from random import Random
from typing import Any

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import NoRespondersError

from runtime.bus.connection import connect, subscribe
from runtime.bus.consumers import ConsumerSpec, ensure_consumer
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.publisher import Fence, Publisher
from runtime.bus.replies import ReplyInbox, headers_of, status_of
from runtime.bus.streams import ensure_streams
from runtime.errors import PublishFailedError
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer
from tests.simulation.bus import PORT, Bus
from tests.simulation.loop import SimulatedLoop
from tests.simulation.network import Network

TREE = "chat.demo.c1.>"
VISITOR, ANSWER, OTHER = (
    "chat.demo.c1.message.visitor.v1",
    "chat.demo.c1.message.assistant.v1",
    "chat.demo.c2.message.visitor.v1",
)
JOURNAL = "turn.demo.c1.journal.v1"


async def _appended(publisher: Publisher, subject: str, msg_id: str, **options: Any) -> object:
    given: dict[str, Any] = {"stream": "CHAT", "event": b'{"data":{}}', **options}
    try:
        stored = await publisher.append(subject, msg_id=msg_id, **given)
    except PublishFailedError as error:
        return type(error).__name__, getattr(error, "code", 0)
    return stored.seq, stored.duplicate


def _shown(facts: list[StoredFact]) -> list[tuple[int, str, bytes]]:
    return [(fact.seq, fact.subject, fact.event) for fact in facts]


async def _asked(url: str) -> list[object]:
    client = await connect(NatsSettings(url=url), name="both")
    answers: list[object] = []
    heard: list[tuple[str, str]] = []

    async def hear(message: Msg) -> None:
        heard.append((message.subject, headers_of(message).get("Nats-Sequence", "")))

    await ensure_streams(client)
    await subscribe(client, "live.chat.>", hear)
    await subscribe(client, "chat.>", hear)
    await client.flush()
    await _publishing(client, answers)
    await _reading(client, answers)
    await _pulling(client, answers)
    inbox = ReplyInbox.of(client)
    try:
        await inbox.request("nobody.is.there", b"", deadline=2.0)
    except NoRespondersError:
        answers.append("no responders")
    missing = orjson.loads((await inbox.request("$JS.API.STREAM.INFO.NONE", b"", deadline=2.0)).data)
    answers.append((missing["error"]["code"], missing["error"]["err_code"]))
    await client.flush()
    await client.close()
    return [*answers, sorted(heard)]


async def _publishing(client: Client, answers: list[object]) -> None:
    publisher = Publisher(client)
    steps: list[tuple[str, str, dict[str, Any]]] = [
        (VISITOR, "a", {}),
        (VISITOR, "a", {}),
        (VISITOR, "b", {"fence": Fence(0, TREE)}),
        (ANSWER, "c", {"fence": Fence(1, TREE)}),
        (ANSWER, "c", {"fence": Fence(1, TREE)}),
        (ANSWER, "c", {"fence": Fence(2, TREE)}),
        (OTHER, "d", {}),
        (VISITOR, "e", {"fence": Fence(2, TREE)}),
        (VISITOR, "f", {"stream": "TURNS"}),
        (VISITOR, "g", {"event": b"x" * 300_000}),
        (JOURNAL, "j1", {"stream": "TURNS", "fence": Fence(0, JOURNAL)}),
        (JOURNAL, "j2", {"stream": "TURNS", "fence": Fence(0, JOURNAL)}),
        (JOURNAL, "j3", {"stream": "TURNS", "fence": Fence(1, JOURNAL)}),
    ]
    for subject, msg_id, options in steps:
        answers.append((subject, msg_id, await _appended(publisher, subject, msg_id, **options)))


async def _reading(client: Client, answers: list[object]) -> None:
    chat, turns = DirectReader(client, "CHAT"), DirectReader(client, "TURNS")
    for one in (
        await chat.last(VISITOR),
        await chat.last("chat.demo.none.message.visitor.v1"),
        await chat.at(2),
        await chat.at(99),
        await chat.next(VISITOR, 2),
        await chat.next(VISITOR, 99),
        await turns.last(JOURNAL),
        await turns.at(1),
    ):
        answers.append(_shown([one]) if one else None)
    answers.append(_shown(await chat.last_of_each([TREE])))
    answers.append(_shown(await chat.last_of_each(["chat.demo.none.>"])))
    for size in (1, 10):
        batch = await chat.batch(TREE, 1, size)
        answers.append((_shown(batch.facts), batch.more))


async def _pulling(client: Client, answers: list[object]) -> None:
    inbox = ReplyInbox.of(client)
    await ensure_consumer(client, ConsumerSpec("CHAT", "both", ("chat.*.*.message.visitor.v1",), ack_wait=30.0))
    subject = "$JS.API.CONSUMER.MSG.NEXT.CHAT.both"

    arrived: asyncio.Queue[Msg] = asyncio.Queue()
    prefix = client.new_inbox()
    await subscribe(client, f"{prefix}.*", arrived.put)

    async def asked_for(**request: int | bool) -> Msg:
        await client.publish(subject, orjson.dumps({"batch": 1, **request}), reply=f"{prefix}.1")
        async with asyncio.timeout(5.0):
            return await arrived.get()

    async def next_one() -> Msg:
        message = await asked_for(expires=2_000_000_000, idle_heartbeat=500_000_000)
        words = message.reply.split(".")
        answers.append((message.subject, words[2:6], len(words), words[-1]))
        return message

    first = await next_one()
    await inbox.request(first.reply, b"-NAK", deadline=5.0)
    again = await next_one()
    await inbox.request(again.reply, b"+ACK", deadline=5.0)
    second = await next_one()
    info = orjson.loads((await inbox.request("$JS.API.CONSUMER.INFO.CHAT.both", b"", deadline=5.0)).data)
    answers.append((info["num_pending"], info["num_ack_pending"]))
    await inbox.request(second.reply, b"+ACK", deadline=5.0)
    third = await next_one()
    await inbox.request(third.reply, b"+ACK", deadline=5.0)
    for request in (
        {"no_wait": True},
        {"expires": 300_000_000},
        {"expires": 600_000_000, "idle_heartbeat": 250_000_000},
    ):
        nothing = await asked_for(**request)
        answers.append((status_of(nothing), nothing.subject == f"{prefix}.1"))


def test_the_simulated_bus_answers_as_the_real_one(nats_server: NatsServer) -> None:
    loop = SimulatedLoop(Network(Random(1), 0.001), 120.0)
    Bus(loop, loop.network, Random(1))
    simulated = loop.run_until_complete(_asked(f"nats://bus:{PORT}"))
    loop.abandon()
    real = asyncio.run(_asked(nats_server.url))
    assert len(real) == len(simulated)
    for mine, theirs in zip(simulated, real, strict=True):
        assert mine == theirs
