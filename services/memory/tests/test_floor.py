"""How far the projection is, as the server tells it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from nats.aio.client import Client
from nats.js.api import AckPolicy, ConsumerConfig
from prometheus_client import REGISTRY

from contracts.streams import CHAT
from memory.adapters.projection_floor import ProjectionFloor
from memory.testing.harness import Writer
from runtime.bus.connection import jetstream
from runtime.bus.jetstream_api import floor_of
from runtime.bus.streams import ensure_streams


def test_with_nothing_unacknowledged_the_floor_is_all_that_was_delivered() -> None:
    info: Any = {"num_ack_pending": 0, "delivered": {"stream_seq": 9}, "ack_floor": {"stream_seq": 7}}
    assert floor_of(info) == 9
    assert floor_of(info | {"num_ack_pending": 2}) == 7


async def test_the_floor_never_passes_a_fact_that_is_not_acknowledged(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    js = jetstream(nats_client)
    config = ConsumerConfig(durable_name="d", filter_subject="chat.>", ack_policy=AckPolicy.EXPLICIT)
    await js.add_consumer(CHAT.name, config)  # pyright: ignore[reportUnknownMemberType]
    writer = Writer(nats_client)
    seqs = [await writer.visitor(f"m{number}") for number in range(4)]
    floor, told = ProjectionFloor(nats_client, CHAT.name, "d", lambda: 1), list[str]()
    floor.hurry, floor.calm = lambda: told.append("hurry"), lambda: told.append("calm")
    messages = await (await js.pull_subscribe_bind("d", stream=CHAT.name)).fetch(4)
    for message in (messages[0], messages[2], messages[3]):
        await message.ack_sync()
    await floor.refresh()
    assert floor.seq == seqs[0]
    assert not await floor.reach(seqs[1], 0.05)
    assert (told[0], told.index("calm")) == ("hurry", len(told) - 1)
    await messages[1].ack_sync()
    await floor.refresh()
    assert floor.seq == seqs[3]


async def test_one_fact_that_waits_is_told_as_standing_until_it_is_stored(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    js = jetstream(nats_client)
    config = ConsumerConfig(durable_name="d", filter_subject="chat.>", ack_policy=AckPolicy.EXPLICIT)
    await js.add_consumer(CHAT.name, config)  # pyright: ignore[reportUnknownMemberType]
    await Writer(nats_client).visitor("hello")
    floor = ProjectionFloor(nats_client, CHAT.name, "d", lambda: 1)

    async def standing() -> float | None:
        await floor.refresh()
        return REGISTRY.get_sample_value("nexus_memory_projection_standing_seconds")

    assert await standing() == 0  # the era's first answer
    first, second = await standing(), await standing()
    assert first is not None
    assert second is not None
    assert 0 < first < second
    (message,) = await (await js.pull_subscribe_bind("d", stream=CHAT.name)).fetch(1)
    await message.ack_sync()
    assert await standing() == 0


async def test_waiting_is_measured_by_the_servers_clock(nats_client: Client) -> None:
    await ensure_streams(nats_client)
    js = jetstream(nats_client)
    config = ConsumerConfig(durable_name="d", ack_policy=AckPolicy.EXPLICIT)
    await js.add_consumer(CHAT.name, config)  # pyright: ignore[reportUnknownMemberType]
    floor = ProjectionFloor(nats_client, CHAT.name, "d", lambda: 1)
    await floor.refresh()
    assert abs(await floor.now() - datetime.now(UTC)) < timedelta(seconds=5)
