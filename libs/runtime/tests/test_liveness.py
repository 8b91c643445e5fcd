"""A part that cannot go on by itself is noticed; one that is slow, or whose store is away, is not."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection
from contextlib import asynccontextmanager

import pytest
from nats.aio.client import Client

from runtime.bus.publisher import Publisher
from runtime.errors import RpcError
from runtime.lifecycle.health import Health
from runtime.liveness import STUCK_CHECKS, Ask, Liveness, Store
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.deliveries import AWAY_BACKOFF, MAX_BACKOFF, pause_after
from runtime.workers.pull_worker import Ack, Delivery, Outcome, PullWorker

SUBJECT = "tools.call.requested.v1.market"


async def all_well(without: Collection[str]) -> bool:
    del without
    return True


async def looks(liveness: Liveness, times: int) -> dict[str, str]:
    for _ in range(times):
        await liveness.look()
    return liveness.stuck


async def test_a_part_that_stands_still_at_every_look_is_stuck_and_one_that_goes_on_in_between_is_not() -> None:
    liveness = Liveness(all_well)
    answers: list[str | None] = []
    liveness.add("projection", lambda: "its task has ended")
    liveness.add("slow", lambda: answers.append(None) or ("waits" if len(answers) % STUCK_CHECKS else None))
    assert await looks(liveness, STUCK_CHECKS - 1) == {}
    assert await looks(liveness, STUCK_CHECKS + 1) == {"projection": "its task has ended"}


async def test_a_part_is_not_stuck_while_its_store_is_away_nor_soon_after_it_came_back() -> None:
    health, away = Health("memory"), True

    async def store() -> None:
        if away:
            raise ConnectionError("away")

    async def about_the_part_itself() -> None:
        raise ConnectionError("the projection has ended")

    health.add_check("mongodb", store)
    health.add_check("projection", about_the_part_itself)
    health.liveness.add("projection", lambda: "its task has ended")
    health.started()
    health.ready()
    assert await looks(health.liveness, 4 * STUCK_CHECKS) == {}
    away = False
    assert await looks(health.liveness, STUCK_CHECKS - 1) == {}
    assert await looks(health.liveness, 1) == {"projection": "its task has ended"}
    health.draining()
    assert await looks(health.liveness, 1) == {}
    await health.stop()


async def gone() -> None:
    raise ConnectionError("away")


async def there() -> None:
    pass


@pytest.mark.parametrize(
    ("seems_away", "ours", "afresh", "stuck"),
    [
        (True, gone, there, True),
        (True, gone, gone, False),
        (True, there, there, False),
        (False, gone, there, False),
    ],
    ids=["a new client finds it", "nobody finds it", "it is back", "it was never missed"],
)
async def test_a_store_that_answers_a_new_client_and_not_ours_leaves_ours_stuck(
    seems_away: bool, ours: Ask, afresh: Ask, stuck: bool
) -> None:
    liveness = Liveness(all_well)
    liveness.add_store("mongodb", Store(lambda: seems_away, ours, afresh))
    assert await looks(liveness, STUCK_CHECKS - 1) == {}
    assert bool(await looks(liveness, 1)) is stuck


class Hangs:
    """A handler that never answers its first delivery; `ends` tells whether it lets itself be broken off."""

    def __init__(self, *, ends: bool) -> None:
        self.ends = asyncio.Event()
        self.seen: list[int] = []
        if ends:
            self.ends.set()

    async def __call__(self, delivery: Delivery) -> Outcome:
        self.seen.append(delivery.num_delivered)
        while delivery.num_delivered == 1:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                if self.ends.is_set():
                    raise
        return Ack()


@asynccontextmanager
async def working(client: Client, hangs: Hangs) -> AsyncGenerator[PullWorker]:
    worker = PullWorker(client, "TOOLS", "hanging", ["tools.call.requested.v1.*"], hangs, handler_timeout=0.3)
    await worker.start()
    await Publisher(client).append(SUBJECT, b"one", stream="TOOLS", msg_id="one")
    try:
        yield worker
    finally:
        hangs.ends.set()
        await worker.drain(0.1)


async def test_a_handler_that_hangs_is_broken_off_and_its_message_comes_again(nats_streams: Client) -> None:
    hangs = Hangs(ends=True)
    async with working(nats_streams, hangs) as worker:
        await eventually(lambda: hangs.seen == [1, 2])
        await eventually(lambda: worker.in_work == 0)
        assert worker.stuck_because() is None


async def test_a_worker_says_so_when_a_handler_cannot_even_be_broken_off(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.workers.pull_worker.END_TIMEOUT", 1.0)
    async with working(nats_streams, Hangs(ends=False)) as worker:
        await eventually(lambda: "does not end" in (worker.stuck_because() or ""))


async def test_a_worker_says_so_when_its_keeper_has_ended(nats_streams: Client) -> None:
    async with working(nats_streams, Hangs(ends=True)) as worker:
        assert worker.stuck_because() is None
        keeper = next(task for task in asyncio.all_tasks() if "PullWorker._keep" in repr(task))
        keeper.cancel()
        await eventually(lambda: "keeps its leases" in (worker.stuck_because() or ""))


async def test_a_worker_says_so_when_it_is_deaf_on_a_connection_that_is_up(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runtime.workers.pull_requests.DEAF_AFTER_SECONDS", 1.0)
    monkeypatch.setattr("runtime.workers.pull_requests.IDLE_SILENCE_TIMEOUT", 0.5)
    async with working(nats_streams, Hangs(ends=True)) as worker:
        # What nats-py has forgotten it drops without a word, and the server goes on sending.
        subscription = worker._requests._subscription  # pyright: ignore[reportPrivateUsage]
        assert subscription is not None
        nats_streams._subs.pop(subscription._id)  # pyright: ignore[reportPrivateUsage]
        await eventually(lambda: "not answered" in (worker.stuck_because() or ""))


@pytest.mark.own_servers
async def test_a_bus_that_is_away_and_comes_back_leaves_no_worker_standing_still(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    hangs = Hangs(ends=True)
    async with working(nats_streams, hangs) as worker:
        await eventually(lambda: hangs.seen == [1, 2])
        nats_server.pause()
        await eventually(lambda: not worker.listening)
        nats_server.resume()
        await eventually(lambda: worker.listening and worker.stuck_because() is None)
        await Publisher(nats_streams).append(SUBJECT, b"two", stream="TOOLS", msg_id="two")
        await eventually(lambda: len(hangs.seen) >= 4)


def test_what_is_only_away_is_tried_again_soon_however_long_it_was_away() -> None:
    assert pause_after(RpcError("UNAVAILABLE", "away", retryable=True), 12) <= AWAY_BACKOFF + 1
    assert pause_after(ValueError("wrong"), 12) >= MAX_BACKOFF
