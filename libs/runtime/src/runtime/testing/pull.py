"""For tests: a pull worker on the stream TOOLS, and handlers that record their deliveries or wait for a signal."""

import asyncio
from collections import Counter

import orjson
from nats.aio.client import Client

from runtime.bus.publisher import Publisher
from runtime.workers.pull_worker import Ack, Delivery, Handler, Outcome, PullWorker

SUBJECT = "tools.call.requested.v1.market"
DURABLE = "tool-executor"


async def ask(client: Client, *names: str) -> None:
    publisher = Publisher(client)
    for name in names:
        await publisher.append(SUBJECT, name.encode(), stream="TOOLS", msg_id=name)


async def consumer_state(client: Client) -> tuple[int, int]:
    """Returns the number of messages that are delivered but not acknowledged, and of those not delivered yet."""
    answer = await client.request(f"$JS.API.CONSUMER.INFO.TOOLS.{DURABLE}", b"", timeout=10)
    info = orjson.loads(answer.data)
    return info["num_ack_pending"], info["num_pending"]


async def settled(client: Client) -> bool:
    return await consumer_state(client) == (0, 0)


class Recorder:
    """A handler that records its deliveries and returns the given outcomes in order."""

    def __init__(self, *outcomes: Outcome | Exception) -> None:
        self.outcomes = list(outcomes)
        self.seen: list[Delivery] = []

    @property
    def names(self) -> list[str]:
        return [delivery.data.decode() for delivery in self.seen]

    async def __call__(self, delivery: Delivery) -> Outcome:
        self.seen.append(delivery)
        outcome = self.outcomes.pop(0) if self.outcomes else Ack()
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


class Gate:
    """A handler that waits until `open` is set, and counts how many wait concurrently."""

    def __init__(self) -> None:
        self.open = asyncio.Event()
        self.now = 0
        self.most = 0
        self.started: Counter[str] = Counter()
        self.finished: Counter[str] = Counter()

    async def __call__(self, delivery: Delivery) -> Outcome:
        name = delivery.data.decode()
        self.started[name] += 1
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await self.open.wait()
        finally:
            self.now -= 1
        self.finished[name] += 1
        return Ack()


async def working(
    client: Client, handler: Handler, *, slots: int = 8, starting: int | None = None, ack_wait: float = 30.0
) -> PullWorker:
    subjects = ["tools.call.requested.v1.*"]
    worker = PullWorker(client, "TOOLS", DURABLE, subjects, handler, slots=slots, starting=starting, ack_wait=ack_wait)
    await worker.start()
    return worker
