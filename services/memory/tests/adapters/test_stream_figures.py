"""How full the streams are, as metrics and in the log."""

from dataclasses import replace

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig
from prometheus_client import REGISTRY

from contracts.streams import STREAMS
from memory.adapters.stream_figures import StreamFigures
from runtime.bus.connection import jetstream, subscribe
from runtime.bus.publisher import Publisher
from runtime.bus.streams import ensure_streams
from runtime.testing.servers import eventually

SMALL = tuple(replace(stream, max_bytes=1024 * 1024) for stream in STREAMS)


def figure(name: str, **labels: str) -> float:
    value = REGISTRY.get_sample_value(name, labels)
    assert value is not None
    return value


async def test_fill_age_and_lag_are_told(nats_client: Client) -> None:
    await ensure_streams(nats_client, SMALL)
    config = ConsumerConfig(durable_name="slow", filter_subject="chat.>", ack_policy=AckPolicy.EXPLICIT)
    await jetstream(nats_client).add_consumer("CHAT", config)  # pyright: ignore[reportUnknownMemberType]
    publisher = Publisher(nats_client)
    for number in range(9):
        body, name = b"x" * 100_000, str(number)
        await publisher.append("chat.a.b.message.visitor.v1", body, stream="CHAT", msg_id=name)
    for number in range(20):
        await publisher.append("feedback.given.v1.a.b", b"x" * 100_000, stream="FACTS", msg_id=f"f{number}")
    figures = StreamFigures(nats_client, SMALL)
    with structlog.testing.capture_logs() as told:
        await figures.read()
        await figures.read()
    assert 0.8 < figure("nexus_stream_fill_ratio", stream="CHAT") < 1
    assert figure("nexus_stream_oldest_seconds", stream="CHAT") > 0
    assert figure("nexus_consumer_behind", stream="CHAT", consumer="slow") == 9
    assert figure("nexus_stream_cut_short", stream="FACTS") == 1
    assert figure("nexus_stream_cut_short", stream="TRACES") == 0
    assert figure("nexus_jetstream_storage_bytes") > 1_000_000
    # Once an hour each, not at every look.
    assert [(line["event"], line["stream"]) for line in told] == [
        ("stream.fills", "CHAT"),
        ("stream.keeps_less_than_promised", "FACTS"),
    ]


async def test_the_bus_is_asked_once_a_minute_however_often_metrics_are(nats_client: Client) -> None:
    await ensure_streams(nats_client, SMALL)
    asked: list[str] = []

    async def hear(message: Msg) -> None:
        asked.append(message.subject)

    await subscribe(nats_client, "$JS.API.STREAM.INFO.CHAT", hear)
    figures = StreamFigures(nats_client, SMALL)
    for _ in range(3):
        await figures.read_if_old()
    await nats_client.flush()
    await eventually(lambda: len(asked) == 1)
    assert figure("nexus_stream_fill_ratio", stream="CHAT") == 0


async def test_an_age_that_somebody_has_lowered_is_told(nats_client: Client) -> None:
    by_hand = tuple(replace(s, max_age=3_600.0) if s.name in {"CHAT", "FACTS"} else s for s in SMALL)
    await ensure_streams(nats_client, by_hand)
    with structlog.testing.capture_logs() as told:
        await StreamFigures(nats_client, SMALL).read()
    cut_short = {s.name for s in SMALL if figure("nexus_stream_cut_short", stream=s.name)}
    assert cut_short == {"CHAT", "FACTS"}
    assert [(line["event"], line["stream"], line["kept"]) for line in told] == [
        ("stream.keeps_less_than_promised", "CHAT", 3_600),
        ("stream.keeps_less_than_promised", "FACTS", 3_600),
    ]
    await ensure_streams(nats_client, SMALL)
    await StreamFigures(nats_client, SMALL).read()
    assert figure("nexus_stream_cut_short", stream="FACTS") == 0
