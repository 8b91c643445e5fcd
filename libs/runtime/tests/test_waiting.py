"""The figures that autoscaling goes by, against what really waits at a real server."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import orjson
from nats.aio.client import Client
from prometheus_client import CollectorRegistry, Gauge

from runtime.connection import connect
from runtime.publishing import Publisher
from runtime.pulling import Delivery, Done, Handler, Later, Outcome, PullWorker
from runtime.settings import NatsSettings
from runtime.testing import NatsServer, eventually
from runtime.waiting import Figures, Waiting

SUBJECT = "chat.demo.c1.message.visitor.v1"
DURABLE = "agent"


class Slow:
    """A handler that waits until it is let go; with `pause` each message is first handed back so long."""

    def __init__(self, pause: float = 0.0) -> None:
        self.open = asyncio.Event()
        self.pause = pause
        self.looked_at: set[bytes] = set()
        self.now = 0

    async def __call__(self, delivery: Delivery) -> Outcome:
        if self.pause and delivery.data not in self.looked_at:
            self.looked_at.add(delivery.data)
            return Later(self.pause)
        self.now += 1
        await self.open.wait()
        self.now -= 1
        return Done()


@asynccontextmanager
async def working(
    client: Client, handler: Handler, *, slots: int = 1, known: Callable[[], int] | None = None
) -> AsyncGenerator[Waiting]:
    worker = PullWorker(client, "CHAT", DURABLE, ["chat.*.*.message.visitor.v1"], handler, slots=slots)
    registry = CollectorRegistry()
    due, oldest = Gauge("due", "", registry=registry), Gauge("oldest", "", registry=registry)
    waiting = Waiting(worker, due, oldest, known)
    await worker.start()
    await waiting.start()
    try:
        yield waiting
    finally:
        await waiting.stop()
        await worker.drain(0.5)


async def ask(client: Client, count: int, name: str = "m") -> None:
    publisher = Publisher(client)
    for number in range(count):
        await publisher.append(SUBJECT, f"{name}{number}".encode(), stream="CHAT", msg_id=f"{name}{number}")


async def lag(client: Client) -> tuple[int, int]:
    """What JetStream says: never delivered, delivered and not acknowledged."""
    answer = await client.request(f"$JS.API.CONSUMER.INFO.CHAT.{DURABLE}", b"", timeout=10)
    info = orjson.loads(answer.data)
    return info["num_pending"], info["num_ack_pending"]


async def after_looks(waiting: Waiting, count: int = 2) -> Figures:
    """The figures, when the server has been asked so many times more."""
    until = waiting.looks + count
    await eventually(lambda: waiting.looks >= until, 30)
    return waiting.figures


async def test_of_fifty_messages_for_one_slow_slot_forty_nine_are_due(nats_streams: Client) -> None:
    slow = Slow()
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 50)
        await eventually(lambda: waiting.figures.due == 49)
        first = waiting.figures.oldest
        later = await after_looks(waiting)
        assert later.due == 49
        assert later.oldest > first
        slow.open.set()
        await eventually(lambda: waiting.figures == Figures(0, 0.0), 20)


async def test_what_is_handed_back_with_a_pause_is_not_due_before_its_time(nats_streams: Client) -> None:
    slow = Slow(pause=3600.0)
    async with working(nats_streams, slow, slots=50) as waiting:
        await ask(nats_streams, 20)
        await eventually(lambda: len(slow.looked_at) == 20)
        assert await after_looks(waiting) == Figures(0, 0.0)
        assert await lag(nats_streams) == (0, 20)


async def test_a_burst_whose_pause_is_over_is_due_though_jetstream_shows_no_lag(nats_streams: Client) -> None:
    slow = Slow(pause=1.0)
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 20)
        await eventually(lambda: len(slow.looked_at) == 20 and slow.now == 1)
        await eventually(lambda: waiting.figures.due == 19)
        figures = await after_looks(waiting)
        assert (figures.due, await lag(nats_streams)) == (19, (0, 20))
        assert figures.oldest > 1.0
        slow.open.set()
        await eventually(lambda: waiting.figures == Figures(0, 0.0), 20)


async def test_a_consumer_that_is_lost_and_made_anew_makes_nothing_due_that_is_done(nats_streams: Client) -> None:
    slow, again = Slow(), Slow()
    slow.open.set()
    open_calls = 0

    async def handle(delivery: Delivery) -> Outcome:
        return await (again if slow.open.is_set() and deleted else slow)(delivery)

    deleted = False
    async with working(nats_streams, handle, known=lambda: open_calls) as waiting:
        await ask(nats_streams, 50)
        await eventually(lambda: settled(nats_streams))
        await after_looks(waiting)
        deleted = True
        await nats_streams.request(f"$JS.API.CONSUMER.DELETE.CHAT.{DURABLE}", b"", timeout=10)
        # All fifty are delivered once more, and the first of them blocks the only slot.
        await eventually(lambda: again.now == 1, 30)
        assert (await lag(nats_streams))[0] == 49
        assert (await after_looks(waiting)).due == 0
        open_calls = 3
        assert (await after_looks(waiting)).due == 3
        again.open.set()
        await eventually(lambda: settled(nats_streams))
        assert await after_looks(waiting) == Figures(0, 0.0)


async def settled(client: Client) -> bool:
    return await lag(client) == (0, 0)


async def test_workers_know_of_each_other_and_tell_the_same(nats_server: NatsServer, nats_streams: Client) -> None:
    first, second = Slow(pause=1.0), Slow(pause=1.0)
    second.looked_at = first.looked_at
    other = await connect(NatsSettings(url=nats_server.url), name="other")
    async with working(nats_streams, first, slots=4) as one, working(other, second, slots=3) as two:
        await ask(nats_streams, 20)
        await eventually(lambda: first.now == 4 and second.now == 3)
        await eventually(lambda: (one.figures.due, two.figures.due) == (13, 13))
        first.open.set()
        second.open.set()
        await eventually(lambda: one.figures == two.figures == Figures(0, 0.0), 20)
    await other.close()


async def test_what_a_killed_worker_held_is_due(nats_server: NatsServer, nats_streams: Client) -> None:
    slow = Slow()
    program = Path(__file__).with_name("waiting_process.py")
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 1, "mine")
        await eventually(lambda: slow.now == 1)
        child = await asyncio.create_subprocess_exec(
            sys.executable, str(program), nats_server.url, "5", stdout=asyncio.subprocess.PIPE
        )
        try:
            await ask(nats_streams, 8)
            # Five run there, three are due.
            await eventually(lambda: waiting.figures.due == 3, 30)
            os.kill(child.pid, signal.SIGKILL)
            await eventually(lambda: waiting.figures.due == 8, 30)
        finally:
            if child.returncode is None:
                child.kill()
            await child.wait()
        slow.open.set()
        await eventually(lambda: waiting.figures == Figures(0, 0.0), 20)


async def test_without_the_servers_word_there_is_no_figure_rather_than_an_old_one(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    slow = Slow()
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 5)
        await eventually(lambda: waiting.figures.due == 4)
        nats_server.pause()
        try:
            await eventually(lambda: waiting.unknown, 30)
        finally:
            nats_server.resume()
        await eventually(lambda: not waiting.unknown and waiting.figures.due == 4, 30)
        slow.open.set()
