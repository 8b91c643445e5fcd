"""A request for messages that is lost, and that nobody tells of, costs its consumer ten seconds and not a minute."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from nats.aio.client import Client

from runtime.bus.bus_client import BusClient
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.publisher import Publisher
from runtime.testing.servers import eventually
from runtime.workers import pull_requests
from runtime.workers.batch_worker import BatchWorker
from runtime.workers.outcomes import Outcome
from runtime.workers.pull_worker import Ack, Delivery, PullWorker

SUBJECT = "tools.call.requested.v1.market"
SEEN = 10.0
"""Seconds in which it must be noticed."""


def test_silence_is_noticed_within_ten_seconds_and_is_longer_than_a_heartbeat() -> None:
    longest = SEEN - pull_requests.CHECK_INTERVAL
    assert pull_requests.IDLE_HEARTBEAT_INTERVAL < pull_requests.IDLE_SILENCE_TIMEOUT <= longest


@pytest.mark.parametrize("kind", ["one by one", "in batches"])
async def test_a_request_that_never_arrived_is_sent_again(
    nats_streams: Client, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr(pull_requests, "IDLE_SILENCE_TIMEOUT", 0.3)
    assert isinstance(nats_streams, BusClient)
    say, lost, seen = nats_streams.publish_now, list[str](), list[bytes]()

    def losing(subject: str, *rest: Any, **options: Any) -> bool:
        if ".CONSUMER.MSG.NEXT." in subject and not lost:
            lost.append(subject)
            return True
        return say(subject, *rest, **options)

    async def take(delivery: Delivery) -> Ack:
        seen.append(delivery.data)
        return Ack()

    async def take_all(deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
        return [await take(delivery) for delivery in deliveries]

    monkeypatch.setattr(nats_streams, "publish_now", losing)
    worker = (
        PullWorker(nats_streams, "TOOLS", "lost", [SUBJECT], take)
        if kind == "one by one"
        else BatchWorker(nats_streams, ConsumerSpec("TOOLS", "lost", (SUBJECT,)), take_all, service="test")
    )
    await worker.start()
    await eventually(lambda: bool(lost))
    await Publisher(nats_streams).append(SUBJECT, b"waits", stream="TOOLS", msg_id="waits")
    await eventually(lambda: seen == [b"waits"])
    await worker.drain(2.0)
