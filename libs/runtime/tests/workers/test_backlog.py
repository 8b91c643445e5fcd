"""The figures that autoscaling goes by, against what really waits at a real server."""

import asyncio
import math
import os
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import orjson
import pytest
from nats.aio.client import Client
from prometheus_client import CollectorRegistry, Gauge

from contracts.streams import STREAMS
from runtime.bus.connection import connect, listen
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.settings import NatsSettings
from runtime.testing.cluster import run_nats_cluster, urls
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.backlog import Backlog, Figures
from runtime.workers.pull_worker import Ack, Delivery, Handler, Outcome, PullWorker, Retry

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
            return Retry(self.pause)
        self.now += 1
        await self.open.wait()
        self.now -= 1
        return Ack()


@asynccontextmanager
async def working(
    client: Client,
    handler: Handler,
    *,
    slots: int = 1,
    known: Callable[[], int] | None = None,
    due: Gauge | None = None,
) -> AsyncGenerator[Backlog]:
    worker = PullWorker(client, "CHAT", DURABLE, ["chat.*.*.message.visitor.v1"], handler, slots=slots)
    waiting = Backlog(worker, due or gauge(), gauge(), known)
    await worker.start()
    await waiting.start()
    try:
        yield waiting
    finally:
        await waiting.stop()
        await worker.drain(0.5)


def gauge() -> Gauge:
    return Gauge("figure", "", registry=CollectorRegistry())


def shown(one: Gauge) -> float:
    """As /metrics gives it."""
    return next(iter(one.collect())).samples[0].value


async def ask(client: Client, count: int, name: str = "m") -> None:
    publisher = Publisher(client)
    for number in range(count):
        await publisher.append(SUBJECT, f"{name}{number}".encode(), stream="CHAT", msg_id=f"{name}{number}")


async def lag(client: Client) -> tuple[int, int]:
    """What JetStream says: never delivered, delivered and not acknowledged."""
    answer = await client.request(f"$JS.API.CONSUMER.INFO.CHAT.{DURABLE}", b"", timeout=10)
    info = orjson.loads(answer.data)
    return info["num_pending"], info["num_ack_pending"]


async def shows(waiting: Backlog, due: int) -> None:
    """Within 5 s it says that so many are due."""

    async def said() -> bool:
        with suppress(TimeoutError):
            return (await waiting.look()).due == due
        return False

    await eventually(said)


async def at_rest(*workers: Backlog) -> None:
    for waiting in workers:
        await eventually(lambda waiting=waiting: rests(waiting))


async def rests(waiting: Backlog) -> bool:
    return await waiting.look() == Figures(0, 0.0)


async def test_of_fifty_messages_for_one_slow_slot_forty_nine_are_due(nats_streams: Client) -> None:
    slow = Slow()
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 50)
        await shows(waiting, 49)
        first = waiting.figures.oldest
        later = await waiting.look()
        assert later.due == 49
        assert later.oldest > first
        slow.open.set()
        await at_rest(waiting)


async def test_what_is_handed_back_with_a_pause_is_not_due_before_its_time(nats_streams: Client) -> None:
    slow = Slow(pause=3600.0)
    async with working(nats_streams, slow, slots=50) as waiting:
        await ask(nats_streams, 20)
        await eventually(lambda: len(slow.looked_at) == 20)
        assert await waiting.look() == Figures(0, 0.0)
        assert await lag(nats_streams) == (0, 20)


async def test_a_burst_whose_pause_is_over_is_due_though_jetstream_shows_no_lag(nats_streams: Client) -> None:
    slow = Slow(pause=1.0)
    async with working(nats_streams, slow) as waiting:
        await ask(nats_streams, 20)
        await eventually(lambda: len(slow.looked_at) == 20 and slow.now == 1)
        await shows(waiting, 19)
        figures = await waiting.look()
        assert (figures.due, await lag(nats_streams)) == (19, (0, 20))

        async def ages() -> bool:
            return (await waiting.look()).oldest > 1.0

        await eventually(ages)
        slow.open.set()
        await at_rest(waiting)


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
        await waiting.look()
        deleted = True
        await nats_streams.request(f"$JS.API.CONSUMER.DELETE.CHAT.{DURABLE}", b"", timeout=10)
        # All fifty are delivered once more, and the first of them blocks the only slot.
        await eventually(lambda: again.now == 1)
        assert (await lag(nats_streams))[0] == 49
        assert (await waiting.look()).due == 0
        open_calls = 3
        assert (await waiting.look()).due == 3
        again.open.set()
        await eventually(lambda: settled(nats_streams))
        assert await waiting.look() == Figures(0, 0.0)


async def settled(client: Client) -> bool:
    return await lag(client) == (0, 0)


async def test_workers_know_of_each_other_and_tell_the_same(nats_server: NatsServer, nats_streams: Client) -> None:
    first, second = Slow(pause=1.0), Slow(pause=1.0)
    second.looked_at = first.looked_at
    other = await connect(NatsSettings(url=nats_server.url), name="other")
    async with working(nats_streams, first, slots=4) as one, working(other, second, slots=3) as two:
        await ask(nats_streams, 20)
        await eventually(lambda: first.now == 4 and second.now == 3)
        await shows(one, 13)
        await shows(two, 13)
        first.open.set()
        second.open.set()
        await at_rest(one, two)
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
            await shows(waiting, 3)
            os.kill(child.pid, signal.SIGKILL)
            await shows(waiting, 8)
        finally:
            if child.returncode is None:
                child.kill()
            await child.wait()
        slow.open.set()
        await at_rest(waiting)


@pytest.mark.own_servers
async def test_without_the_servers_word_there_is_no_figure_rather_than_an_old_one(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    slow, due = Slow(), gauge()
    async with working(nats_streams, slow, due=due) as waiting:

        async def said(what: Callable[[float], bool]) -> bool:
            await waiting.refresh()
            return what(shown(due))

        await ask(nats_streams, 5)
        await eventually(lambda: said(lambda value: value == 4))
        nats_server.pause()
        try:
            # Nobody refreshes it either, as when the event loop is too late for whoever reads /metrics.
            await eventually(lambda: math.isnan(shown(due)))
        finally:
            nats_server.resume()
        await eventually(lambda: said(lambda value: value == 4))
        slow.open.set()


async def test_nothing_is_asked_while_nobody_wants_to_know(nats_server: NatsServer, nats_streams: Client) -> None:
    asked: list[str] = []
    other = await connect(NatsSettings(url=nats_server.url), name="other")
    async with working(nats_streams, Slow()) as one, working(other, Slow()) as two:
        await two.look()
        for client in (nats_streams, other):
            await client.flush()
        for subject in ("_INBOX.waiting.>", "$JS.API.CONSUMER.INFO.>"):
            await listen(nats_streams, subject, lambda message: asked.append(message.subject))
        await nats_streams.flush()
        # One round of questions serves all who ask in the next half second: the others, who answer, and the server.
        await asyncio.gather(*(one.refresh() for _ in range(20)))
        await other.flush()
        await nats_streams.flush()
        assert len(asked) == 3, asked
    await other.close()


async def test_a_leader_that_steps_down_costs_the_figures_five_seconds_at_most(tmp_path: Path) -> None:
    slow = Slow(pause=1.0)
    with run_nats_cluster(tmp_path) as servers:
        client = await connect(NatsSettings(url=urls(servers)), name="test")
        await ensure_streams(client, STREAMS[:1], replicas=3, deadline=60)
        async with working(client, slow) as waiting:
            await ask(client, 20)
            await eventually(lambda: len(slow.looked_at) == 20 and slow.now == 1)
            await shows(waiting, 19)
            for asset in (f"CONSUMER.LEADER.STEPDOWN.CHAT.{DURABLE}", "STREAM.LEADER.STEPDOWN.CHAT"):
                answer = await client.request(f"$JS.API.{asset}", b"", timeout=10)
                assert orjson.loads(answer.data)["success"]
                await shows(waiting, 19)
            slow.open.set()
            await at_rest(waiting)
        await client.close()
