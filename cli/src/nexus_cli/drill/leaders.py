"""Makes the leaders of a NATS cluster hand over."""

from __future__ import annotations

import asyncio

from nats.aio.client import Client
from nats.errors import Error as NatsError

from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox

META = "meta"
"""The leader of JetStream, which places streams and consumers."""
LEADERS = (META, "CHAT", "TURNS", "TOOLS", "FACTS", "CHAT/agent")
"""The leaders that hand over in a drill: of JetStream, of streams, and of the consumer of turns."""
_CALL_SECONDS = 5.0
_ELECTION_SECONDS = 30.0
_POLL_SECONDS = 0.05


async def step_down(nats_url: str, leader: str) -> None:
    """Makes a leader hand over; returns when there is a leader again.

    Raises:
        TimeoutError: there is no leader within 30 seconds.
    """
    bus = Client()
    await bus.connect(nats_url.split(","))
    try:
        stream, _, consumer = leader.partition("/")
        stream_method = (
            f"CONSUMER.LEADER.STEPDOWN.{stream}.{consumer}" if consumer else f"STREAM.LEADER.STEPDOWN.{stream}"
        )
        await _ask(bus, "META.LEADER.STEPDOWN" if leader == META else stream_method)
        async with asyncio.timeout(_ELECTION_SECONDS):
            while not await _is_led(bus, stream, consumer):  # noqa: ASYNC110
                await asyncio.sleep(_POLL_SECONDS)
    finally:
        await bus.close()


async def _is_led(bus: Client, stream: str, consumer: str) -> bool:
    if stream == META:
        return await _ask(bus, "STREAM.INFO.CHAT") is not None
    info = await _ask(bus, f"CONSUMER.INFO.{stream}.{consumer}" if consumer else f"STREAM.INFO.{stream}")
    cluster = info.get("cluster") if info else None
    return bool(cluster and cluster.get("leader"))


async def _ask(bus: Client, method: str) -> StreamInfo | None:
    """The answer of the leader; None if there is no leader at the moment."""
    try:
        answer = await ask(ReplyInbox.of(bus), StreamInfo, method, deadline=_CALL_SECONDS)
    except (TimeoutError, NatsError):
        return None
    return None if "error" in answer else answer
