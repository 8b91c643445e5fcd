"""Makes the leaders of a NATS cluster hand over."""

from __future__ import annotations

import asyncio

from nats.aio.client import Client
from nats.errors import Error as NatsError

from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox

META = "meta"
"""The leader of all JetStream, who places streams and consumers."""
LED = (META, "CHAT", "TURNS", "TOOLS", "FACTS", "CHAT/agent")
"""The leaders that are made to hand over: JetStream's, those of streams, and that of the consumer of turns."""
_ASK = 5.0
_LED_AGAIN = 30.0
_PAUSE = 0.05


async def step_down(nats_url: str, led: str) -> None:
    """Makes the leader hand over; returns when there is a leader again.

    Raises:
        TimeoutError: there is none within half a minute.
    """
    bus = Client()
    await bus.connect(nats_url.split(","))
    try:
        stream, _, consumer = led.partition("/")
        of_stream = f"CONSUMER.LEADER.STEPDOWN.{stream}.{consumer}" if consumer else f"STREAM.LEADER.STEPDOWN.{stream}"
        await _ask(bus, "META.LEADER.STEPDOWN" if led == META else of_stream)
        async with asyncio.timeout(_LED_AGAIN):
            while not await _is_led(bus, stream, consumer):  # noqa: ASYNC110
                await asyncio.sleep(_PAUSE)
    finally:
        await bus.close()


async def _is_led(bus: Client, stream: str, consumer: str) -> bool:
    if stream == META:
        return await _ask(bus, "STREAM.INFO.CHAT") is not None
    about = await _ask(bus, f"CONSUMER.INFO.{stream}.{consumer}" if consumer else f"STREAM.INFO.{stream}")
    cluster = about.get("cluster") if about else None
    return bool(cluster and cluster.get("leader"))


async def _ask(bus: Client, method: str) -> StreamInfo | None:
    """None: it has no leader at the moment."""
    try:
        answer = await ask(ReplyInbox.of(bus), StreamInfo, method, deadline=_ASK)
    except (TimeoutError, NatsError):
        return None
    return None if "error" in answer else answer
