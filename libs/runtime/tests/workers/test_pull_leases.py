"""The leases of a pull worker: long work is kept, a dead one's goes to another, one that stood still holds nothing."""

from __future__ import annotations

import asyncio
import threading

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from runtime.bus.connection import connect, subscribe
from runtime.faulty_proxy import Proxy
from runtime.settings import NatsSettings
from runtime.testing.pull import DURABLE, Gate, Recorder, ask, settled, working
from runtime.testing.servers import NatsServer, eventually
from runtime.workers import pull_requests
from runtime.workers.pull_requests import REQUEST_SECONDS
from runtime.workers.pull_worker import LEASE, Ack, AckThen, Delivery, Outcome


async def test_long_work_is_not_delivered_again(nats_streams: Client) -> None:
    gate = Gate()
    pull = await working(nats_streams, gate, slots=4, ack_wait=2.0)
    await ask(nats_streams, "long")
    await eventually(lambda: gate.now == 1)
    held_for = asyncio.get_running_loop().time() + 4.5
    await eventually(lambda: asyncio.get_running_loop().time() > held_for)
    gate.open.set()
    await eventually(lambda: settled(nats_streams))
    assert gate.started["long"] == 1
    await pull.drain()


async def test_what_a_dead_worker_held_goes_to_another(nats_server: NatsServer, nats_streams: Client) -> None:
    other = await connect(NatsSettings(url=nats_server.url), name="doomed")
    gate = Gate()
    await working(other, gate)
    await ask(nats_streams, "a")
    await eventually(lambda: gate.now == 1)
    await other.close()
    handler = Recorder()
    pull = await working(nats_streams, handler, ack_wait=0.5)
    await eventually(lambda: settled(nats_streams))
    assert handler.names == ["a"]
    assert handler.seen[0].num_delivered == 2
    gate.open.set()
    await pull.drain()


class Frozen(threading.Thread):
    """A worker in a loop of its own, which stands still as soon as it has work; its connection stays open."""

    def __init__(self, url: str) -> None:
        super().__init__()
        self.url = url
        self.stuck_because, self.thaw = threading.Event(), threading.Event()
        self.stood_still = 0.0

    def run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        client = await connect(NatsSettings(url=self.url), name="frozen")
        pull = await working(client, self._stand_still, slots=100, ack_wait=LEASE)
        await asyncio.to_thread(self.thaw.wait)
        self.stood_still = pull.stalled_at
        await pull.drain()
        await client.close()

    async def _stand_still(self, delivery: Delivery) -> Outcome:
        del delivery
        self.stuck_because.set()
        self.thaw.wait()
        return Ack()


async def test_leases_that_nobody_renewed_for_nearly_as_long_as_they_last_are_in_doubt(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And its request still stands: asked anew, the server would hold two, and give the next one that stands still two
    messages."""
    monkeypatch.setattr(pull_requests, "IDLE_HEARTBEAT_INTERVAL", 0.3)
    monkeypatch.setattr(pull_requests, "IDLE_SILENCE_TIMEOUT", 0.9)
    pull = await working(nats_streams, Recorder(), ack_wait=1.0)
    assert pull.stalled_at == 0
    threading.Event().wait(0.95)  # nothing else runs: shorter than a lease, but the last renewal was before
    assert pull.stalled_at > 0
    awake = asyncio.get_running_loop().time() + 2 * pull_requests.CHECK_INTERVAL
    await eventually(lambda: asyncio.get_running_loop().time() > awake)
    answer = await nats_streams.request(f"$JS.API.CONSUMER.INFO.TOOLS.{DURABLE}", b"", timeout=10)
    assert orjson.loads(answer.data)["num_waiting"] == 1
    await pull.drain()


@pytest.mark.own_servers
async def test_leases_of_a_worker_whose_server_is_away_are_in_doubt(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    pull = await working(nats_streams, Recorder(), ack_wait=1.0)
    nats_server.kill()
    await eventually(lambda: pull.stalled_at > 0)
    nats_server.restart()
    await eventually(lambda: pull.listening)
    await pull.drain()


async def test_a_worker_that_stands_still_is_given_no_message_twice(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    frozen = Frozen(nats_server.url)
    frozen.start()
    try:
        await ask(nats_streams, "m0")
        await eventually(frozen.stuck_because.is_set)
        handler = Recorder()
        pull = await working(nats_streams, handler, ack_wait=LEASE)
        await ask(nats_streams, *(f"m{number}" for number in range(1, 40)))
        await eventually(lambda: settled(nats_streams))
        # What it had asked for was over before the first lease was.
        assert REQUEST_SECONDS < LEASE
        assert {one.num_delivered for one in handler.seen} == {1, 2}
        await pull.drain()
    finally:
        frozen.thaw.set()
        await asyncio.to_thread(frozen.join)
    assert frozen.stood_still > 0


class Refuses:
    """A handler that did nothing, and wants to say so once its message is gone."""

    def __init__(self, copies: int = 1) -> None:
        self.happened: list[str] = []
        self._copies = copies

    async def __call__(self, delivery: Delivery) -> AckThen:
        self.happened.append(f"handled {delivery.num_delivered}")
        await eventually(lambda: len(self.happened) >= self._copies)

        async def tell() -> None:
            self.happened.append(f"told {delivery.num_delivered}")

        return AckThen(tell)


async def test_what_a_copy_in_work_may_still_do_is_not_told_as_not_done(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    """A message that was on its way for longer than its lease is given away once more, at the next request."""
    proxy, handler = Proxy(nats_server.url), Refuses(copies=2)
    await proxy.start()
    client = await connect(NatsSettings(url=proxy.url), name="behind")
    pull = await working(client, handler, ack_wait=1.0)
    proxy.hold_replies()
    await ask(nats_streams, "a")
    over = asyncio.get_running_loop().time() + 1.3
    await eventually(lambda: asyncio.get_running_loop().time() > over)
    proxy.release_replies()
    await eventually(lambda: settled(nats_streams))
    await pull.drain()
    assert handler.happened[:2] == ["handled 1", "handled 2"]
    assert len(handler.happened) == 3, "the first to end leaves it to the other"
    await client.close()
    await proxy.stop()


async def test_nothing_is_told_while_another_worker_has_a_copy(nats_server: NatsServer, nats_streams: Client) -> None:
    """What lay on its way to a worker for longer than a lease is another's by then, and what that one does with it the
    first cannot know."""
    proxy, handler, at_work = Proxy(nats_server.url), Refuses(), Gate()
    await proxy.start()
    client = await connect(NatsSettings(url=proxy.url), name="behind")
    late = await working(client, handler, ack_wait=1.0)
    proxy.hold_replies()
    await ask(nats_streams, "a")
    other = await working(nats_streams, at_work, slots=1, ack_wait=1.0)
    await eventually(lambda: at_work.now == 1)
    proxy.release_replies()
    await eventually(lambda: handler.happened == ["handled 1"])
    await ask(nats_streams, "b")
    await eventually(lambda: "told 1" in handler.happened)
    at_work.open.set()
    await eventually(lambda: settled(nats_streams))
    await late.drain()
    await other.drain()
    assert handler.happened == ["handled 1", "handled 1", "told 1"], "of the second, which nobody else has had"
    assert at_work.finished == {"a": 1}
    await client.close()
    await proxy.stop()


async def test_a_copy_of_what_was_told_is_acknowledged_and_not_handled(nats_streams: Client) -> None:
    requests: list[str] = []

    async def heard(message: Msg) -> None:
        requests.append(message.reply)

    await subscribe(nats_streams, "$JS.API.CONSUMER.MSG.NEXT.>", heard)
    handler = Refuses()
    pull = await working(nats_streams, handler)
    await ask(nats_streams, "a")
    await eventually(lambda: handler.happened == ["handled 1", "told 1"] and len(requests) > 1)
    acknowledged: list[bytes] = []

    async def settles(message: Msg) -> None:
        acknowledged.append(message.data)

    copy = f"test.copy.TOOLS.{DURABLE}.2.1.2.{10**18}.0"
    await subscribe(nats_streams, copy, settles)
    await nats_streams.publish(requests[-1], b"a", reply=copy)
    await eventually(lambda: acknowledged == [b"+ACK"])
    assert handler.happened == ["handled 1", "told 1"]
    await pull.drain()
