"""The pull worker divides its slots among companies while more than one of them waits."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import orjson
from nats.aio.client import Client

from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually
from runtime.workers.pull_worker import Ack, Delivery, PullWorker


class Turns:
    """A handler that records the company of each delivery it begins, and waits for `end`."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.ended: list[int] = []
        self.end = asyncio.Event()

    async def __call__(self, delivery: Delivery) -> Ack:
        self.begun.append(delivery.subject.split(".")[1])
        await self.end.wait()
        self.ended.append(delivery.seq)
        return Ack()


async def write(client: Client, company: str, number: int) -> None:
    publisher = Publisher(client)
    for one in range(number):
        subject = f"chat.{company}.c{one}.message.visitor.v1"
        await publisher.append(subject, b"hello", stream="CHAT", msg_id=f"{company}{one}")


async def working(
    client: Client,
    turns: Turns,
    others_wait: Callable[[str], bool] | None,
    slots: int = 10,
    starting: int | None = None,
) -> PullWorker:
    subjects = ["chat.*.*.message.visitor.v1"]
    worker = PullWorker(
        client, "CHAT", "agent", subjects, turns, slots=slots, starting=starting, others_wait=others_wait
    )
    await worker.start()
    return worker


async def is_settled(client: Client) -> bool:
    info = orjson.loads((await client.request("$JS.API.CONSUMER.INFO.CHAT.agent", b"", timeout=10)).data)
    return (info["num_ack_pending"], info["num_pending"]) == (0, 0)


async def test_a_small_company_does_not_wait_behind_a_big_one(nats_streams: Client) -> None:
    await write(nats_streams, "big", 300)
    await write(nats_streams, "small", 1)
    turns = Turns()
    worker = await working(nats_streams, turns, lambda company: company == "big")
    await eventually(lambda: "small" in turns.begun)
    assert turns.begun.count("big") == 8, "of ten slots, four for each that is free"
    turns.end.set()
    await eventually(lambda: is_settled(nats_streams))
    assert sorted(turns.ended) == [*range(1, 302)], "each once, and none is refused"
    await eventually(lambda: not worker.postponed)
    await worker.drain()


async def test_the_share_counts_for_what_has_just_begun_as_well(nats_streams: Client) -> None:
    await write(nats_streams, "big", 100)
    await write(nats_streams, "small", 1)
    turns = Turns()
    worker = await working(nats_streams, turns, lambda company: company == "big", slots=500, starting=5)
    await eventually(lambda: "small" in turns.begun)
    assert turns.begun.count("big") == 4
    turns.end.set()
    await eventually(lambda: is_settled(nats_streams))
    await worker.drain()


async def test_a_company_alone_has_all_slots_and_its_order(nats_streams: Client) -> None:
    await write(nats_streams, "big", 30)
    turns = Turns()
    worker = await working(nats_streams, turns, lambda _: False)
    await eventually(lambda: len(turns.begun) == 10)
    assert not worker.postponed
    turns.end.set()
    await eventually(lambda: is_settled(nats_streams))
    assert turns.ended == [*range(1, 31)]
    await worker.drain()
