"""The sample clock of several replicas, over a real MongoDB-wire server and a real NATS."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from nats.aio.client import Client
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError

from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_session import MongoSessionStore
from market_adapter.adapters.nats_nudge import NatsNudge
from market_adapter.adapters.sample_files import load_sample
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.replay import POLL_SECONDS, SampleMover
from runtime.testing.clock import FakeClock
from runtime.testing.servers import MongoDatabase, eventually, run_mongo_server

SAMPLE = load_sample()
SESSIONS = SAMPLE.sessions[-121:]
"""What the clock shows, from its first session to its last."""


Nudge = Callable[[], Awaitable[None]]


async def unheard() -> None:
    """A nudge that is lost: replicas then find out by looking."""


class Replica:
    """One replica's sample clock, with a machine clock of its own."""

    def __init__(self, url: str, database: str, nudge: Nudge, seconds: float, patience: int = 20_000) -> None:
        self.time = FakeClock()
        self.clock = SampleClock(SAMPLE.sessions, SAMPLE.closes)
        self.client = AsyncMongoClient[dict[str, Any]](url, timeoutMS=patience)
        store = MongoSessionStore(bounded(self.client[database]))
        self.replay = SampleMover(self.clock, store, nudge, self.time, seconds_per_bar=seconds)

    async def after(self, seconds: float) -> None:
        """Lets so much time pass on this machine, then lets the replica do what is to be done."""
        await self.time.advance(seconds)
        await self.replay.step()

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        task = asyncio.create_task(self.replay.run())
        try:
            yield
        finally:
            self.replay.stop()
            await asyncio.wait_for(task, 40)


Make = Callable[..., Replica]


@pytest.fixture
async def replica(mongo_server: MongoDatabase) -> AsyncIterator[Make]:
    made: list[Replica] = []

    def make(nudge: Nudge | None = None, seconds: float = 60.0) -> Replica:
        made.append(Replica(mongo_server.url, mongo_server.database, nudge or unheard, seconds))
        return made[-1]

    yield make
    for one in made:
        await one.client.close()


async def test_it_moves_one_bar_when_its_time_has_come_and_not_before(replica: Make) -> None:
    one = replica()
    await one.replay.start()
    await one.after(59.9)
    assert one.clock.session == SESSIONS[0]
    await one.after(0.1)
    assert one.clock.session == SESSIONS[1]
    await one.after(59.9)
    assert one.clock.session == SESSIONS[1]


async def test_after_a_long_pause_it_goes_on_bar_by_bar(replica: Make) -> None:
    one = replica()
    await one.replay.start()
    await one.after(3600)
    await one.after(59)
    assert one.clock.session == SESSIONS[1]


async def test_many_replicas_move_it_once(replica: Make) -> None:
    replicas = [replica() for _ in range(5)]
    for market in replicas:
        await market.replay.start()
    await asyncio.gather(*(market.after(60) for market in replicas))
    for market in replicas:
        await market.replay.step()
    assert {market.clock.session for market in replicas} == {SESSIONS[1]}


async def test_a_replica_that_starts_later_takes_over_where_the_clock_stands(replica: Make) -> None:
    one = replica()
    await one.replay.start()
    for _ in range(3):
        await one.after(60)
    late = replica()
    await late.replay.start()
    assert late.clock.session == one.clock.session == SESSIONS[3]


async def test_a_nudge_brings_the_others_along_at_once(replica: Make, nats_client: Client) -> None:
    nudge = NatsNudge(nats_client)
    mover, follower = replica(nudge.send), replica(nudge.send)
    await nudge.listen(follower.replay.wake)
    await nats_client.flush()
    await mover.replay.start()
    await follower.replay.start()
    async with follower.running():
        await mover.after(60)
        # The follower's machine clock stands still: it cannot have looked by itself.
        await eventually(lambda: follower.clock.session == SESSIONS[1])


async def test_without_a_nudge_a_replica_looks_for_itself(replica: Make) -> None:
    mover, follower = replica(), replica()
    await mover.replay.start()
    await follower.replay.start()
    async with follower.running():
        await eventually(lambda: follower.time.sleeping > 0)
        await mover.after(60)
        await follower.time.advance(POLL_SECONDS)
        await eventually(lambda: follower.clock.session == SESSIONS[1])


async def test_it_ends_on_the_last_bar_and_stays_there(replica: Make) -> None:
    one = replica(seconds=0.001)
    await one.replay.start()
    running = asyncio.create_task(one.replay.run())

    async def ended() -> bool:
        await one.time.advance(0.01)
        return running.done()

    await eventually(ended)
    assert one.clock.session == SESSIONS[-1]
    late = replica()
    await late.replay.start()
    assert late.clock.ended


async def test_it_stands_still_while_its_server_is_away_and_then_goes_on() -> None:
    with run_mongo_server() as server:
        one = Replica(server.url, "market", unheard, 60, patience=1000)
        await one.replay.start()
        await one.after(60)
        server.kill()
        with pytest.raises(PyMongoError):
            await one.after(60)
        assert one.clock.session == SESSIONS[1]
        async with one.running():
            await eventually(lambda: one.time.sleeping > 0)
            server.start()

            async def moved() -> bool:
                await one.time.advance(POLL_SECONDS)
                return one.clock.session >= SESSIONS[2]

            await eventually(moved)
        restarted = Replica(server.url, "market", unheard, 60)
        await restarted.replay.start()
        # Time that passes while the server comes back moves it as well.
        assert restarted.clock.session >= one.clock.session
        await one.client.close()
        await restarted.client.close()
