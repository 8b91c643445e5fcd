"""The pull worker on a real server: nothing lost, nothing twice at once, a good end."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from runtime.bus.bus_client import BusClient
from runtime.bus.connection import connect, jetstream, subscribe
from runtime.bus.publisher import Publisher
from runtime.settings import NatsSettings
from runtime.testing.pull import DURABLE, SUBJECT, Gate, Recorder, ask, consumer_state, settled, working
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.pull_worker import Ack, DeadLetter, Delivery, Retry


async def test_a_message_is_handled_once_and_acknowledged(nats_streams: Client) -> None:
    handler = Recorder()
    pull = await working(nats_streams, handler)
    await ask(nats_streams, "a", "b")
    await eventually(lambda: settled(nats_streams))
    assert handler.names == ["a", "b"]
    first = handler.seen[0]
    assert (first.subject, first.seq, first.num_delivered) == (SUBJECT, 1, 1)
    assert first.stored_at > 1_600_000_000
    await pull.drain()


async def test_later_and_a_failure_both_bring_the_message_again(nats_streams: Client) -> None:
    handler = Recorder(Retry(0.05), ValueError("broken"), Retry(0), Ack())
    pull = await working(nats_streams, handler)
    await ask(nats_streams, "a")
    await eventually(lambda: settled(nats_streams))
    assert [one.num_delivered for one in handler.seen] == [1, 2, 3, 4]
    await pull.drain()


async def test_no_more_run_at_once_than_there_are_slots(nats_streams: Client) -> None:
    gate = Gate()
    pull = await working(nats_streams, gate, slots=5)
    await ask(nats_streams, *(f"m{number}" for number in range(40)))
    await eventually(lambda: gate.now == 5)
    gate.open.set()
    await eventually(lambda: settled(nats_streams))
    assert gate.most == 5
    assert set(gate.finished.values()) == {1}
    assert len(gate.finished) == 40
    await pull.drain()


async def test_one_that_is_under_way_lets_another_begin(nats_streams: Client) -> None:
    begun: list[Delivery] = []
    end = asyncio.Event()

    async def handler(delivery: Delivery) -> Ack:
        begun.append(delivery)
        await end.wait()
        return Ack()

    pull = await working(nats_streams, handler, slots=5, starting=2)
    await ask(nats_streams, *"abcdefgh")
    await eventually(lambda: len(begun) == 2)
    # What does not begin stays at the server, where another worker takes it.
    assert await consumer_state(nats_streams) == (2, 6)
    begun[0].under_way()
    await eventually(lambda: len(begun) == 3)
    for delivery in begun:
        delivery.under_way()
    await eventually(lambda: len(begun) == 5)
    end.set()
    await eventually(lambda: settled(nats_streams))
    assert sorted(delivery.data.decode() for delivery in begun) == list("abcdefgh")
    await pull.drain()


async def test_drain_finishes_what_runs_and_gives_the_rest_back_at_once(
    nats_server: NatsServer, nats_streams: Client
) -> None:
    leaving = await connect(NatsSettings(url=nats_server.url), name="leaving")
    gate = Gate()
    first = await working(leaving, gate, slots=2)
    await ask(nats_streams, "a", "b", "c", "d")
    await eventually(lambda: gate.now == 2)
    draining = asyncio.create_task(first.drain(10))
    handler = Recorder()
    second = await working(nats_streams, handler)
    await eventually(lambda: sorted(handler.names) == ["c", "d"])
    gate.open.set()
    await draining
    await eventually(lambda: settled(nats_streams))
    assert sorted(gate.finished) == ["a", "b"]
    assert sorted(handler.names) == ["c", "d"]
    await second.drain()
    await leaving.close()


async def test_drain_gives_back_what_does_not_finish_in_time(nats_server: NatsServer, nats_streams: Client) -> None:
    leaving = await connect(NatsSettings(url=nats_server.url), name="leaving")
    gate = Gate()
    first = await working(leaving, gate)
    await ask(nats_streams, "a")
    await eventually(lambda: gate.now == 1)
    await first.drain(0.05)
    assert gate.now == 0
    handler = Recorder()
    second = await working(nats_streams, handler)
    await eventually(lambda: settled(nats_streams))
    assert handler.names == ["a"]
    await second.drain()
    await leaving.close()


async def test_two_workers_share_the_work(nats_server: NatsServer, nats_streams: Client) -> None:
    other = await connect(NatsSettings(url=nats_server.url), name="other")
    one, two = Recorder(), Recorder()
    first, second = await working(nats_streams, one, slots=4), await working(other, two, slots=4)
    await ask(nats_streams, *(f"m{number}" for number in range(200)))
    await eventually(lambda: settled(nats_streams))
    assert sorted(one.names + two.names) == sorted(f"m{number}" for number in range(200))
    assert one.seen
    assert two.seen
    await first.drain()
    await second.drain()
    await other.close()


async def test_a_dead_letter_is_kept_with_its_origin_and_can_be_replayed(nats_streams: Client) -> None:
    handler = Recorder(DeadLetter("cannot be read"))
    pull = await working(nats_streams, handler)
    await Publisher(nats_streams).append(SUBJECT, b"bad", stream="TOOLS", msg_id="x", headers={"traceparent": "t"})
    await eventually(lambda: settled(nats_streams))
    letters = DeadLetters(nats_streams)
    (letter,) = await letters.list()
    assert (letter.service, letter.stream, letter.subject) == (DURABLE, "TOOLS", SUBJECT)
    assert (letter.body, letter.reason, letter.origin_seq, letter.deliveries) == (b"bad", "cannot be read", 1, 1)
    assert letter.headers["traceparent"] == "t"
    await letters.replay(letter.seq)
    await eventually(lambda: handler.names == ["bad", "bad"])
    await pull.drain()


@pytest.mark.own_servers
async def test_work_goes_on_after_the_server_was_killed(nats_server: NatsServer, nats_streams: Client) -> None:
    handler = Recorder()
    pull = await working(nats_streams, handler, ack_wait=1.0)
    await ask(nats_streams, "a")
    await eventually(lambda: handler.names == ["a"])
    nats_server.restart()
    await ask(nats_streams, "b")
    await eventually(lambda: "b" in handler.names)
    await eventually(lambda: settled(nats_streams))
    await pull.drain()


async def test_a_consumer_that_was_deleted_is_made_again(nats_streams: Client) -> None:
    handler = Recorder()
    pull = await working(nats_streams, handler)
    await ask(nats_streams, "a")
    await eventually(lambda: settled(nats_streams))
    await nats_streams.request(f"$JS.API.CONSUMER.DELETE.TOOLS.{DURABLE}", b"", timeout=10)
    await ask(nats_streams, "b")
    # "a" comes again where the consumer went before the server had written its acknowledgement down.
    await eventually(lambda: handler.names[-1] == "b")
    await pull.drain()


async def test_a_letter_comes_once_however_late_its_message_is_given_up_again(nats_streams: Client) -> None:
    js = jetstream(nats_streams)
    config = (await js.stream_info("DLQ")).config
    config.duplicate_window = 0.1
    await js.update_stream(config)  # pyright: ignore[reportUnknownMemberType]
    letters = DeadLetters(nats_streams)

    async def give_up(body: bytes, origin_seq: int) -> bool:
        return await letters.put(
            service="agent", stream="CHAT", subject="chat.x", body=body, reason="why", origin_seq=origin_seq
        )

    assert await give_up(b"one", 1)
    # Until the server has forgotten the message's id: another letter's time tells.
    first = (await letters.list())[0].time
    number = 1
    while ((await letters.list())[-1].time - first).total_seconds() < 0.3:
        number += 1
        assert await give_up(b"another", number)
    assert not await give_up(b"one", 1)
    # A stream that was made anew has other messages at the same places.
    assert await give_up(b"another one", 1)
    assert len(await letters.list(limit=1000)) == number + 1


async def asked(client: Client) -> list[int]:
    """How many messages each request of the consumer is for, as the requests come."""
    batches: list[int] = []

    async def heard(message: Msg) -> None:
        batches.append(orjson.loads(message.data)["batch"])

    await subscribe(client, f"$JS.API.CONSUMER.MSG.NEXT.TOOLS.{DURABLE}", heard)
    await client.flush()
    return batches


async def test_at_rest_a_worker_asks_for_one_message_and_busy_for_many(nats_streams: Client) -> None:
    batches = await asked(nats_streams)
    pull = await working(nats_streams, Recorder(), slots=64)
    await eventually(lambda: batches == [1])
    await ask(nats_streams, *(f"m{number}" for number in range(20)))
    await eventually(lambda: settled(nats_streams))
    assert max(batches) > 16
    assert len(batches) < 10
    await pull.drain()


async def test_a_worker_asks_anew_when_its_consumer_has_another_leader(nats_streams: Client) -> None:
    batches = await asked(nats_streams)
    pull = await working(nats_streams, Recorder())
    await eventually(lambda: batches == [1])
    await nats_streams.publish(f"$JS.EVENT.ADVISORY.CONSUMER.LEADER_ELECTED.TOOLS.{DURABLE}", b"{}")
    await eventually(lambda: batches == [1, 1])
    await pull.drain()


async def test_what_is_done_is_acknowledged_once_and_a_lost_acknowledgement_costs_one_more_delivery(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(nats_streams, BusClient)
    say, said, lost = nats_streams.publish_now, list[str](), list[str]()

    def losing(subject: str, payload: bytes = b"", reply: str = "", *rest: Any, **options: Any) -> bool:
        if subject.startswith("$JS.ACK.") and payload == b"+ACK":
            said.append(reply)
            if not lost:
                lost.append(subject)
                return True
        return say(subject, payload, reply, *rest, **options)

    monkeypatch.setattr(nats_streams, "publish_now", losing)
    handler = Recorder()
    pull = await working(nats_streams, handler, ack_wait=0.5)
    await ask(nats_streams, "a")

    async def settled_again() -> bool:
        return len(said) > 1 and await settled(nats_streams)

    await eventually(settled_again)
    assert ([one.num_delivered for one in handler.seen], said) == ([1, 2], ["", ""])
    await pull.drain()
