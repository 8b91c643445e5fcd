"""Messages that the server has given up: delivered `max_deliver` times but never acknowledged, because the service
died during the last delivery. The server reports this once, in an advisory; the message itself is still in its
stream."""

from __future__ import annotations

import orjson
import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription

from contracts.channels import MAX_DELIVERIES
from runtime.connection import subscribe
from runtime.dead_letters import DeadLetters
from runtime.direct import DirectReader
from runtime.errors import RuntimeFault

log = structlog.get_logger(__name__)


class Advisories:
    """Turns the advisories about one service's consumers into dead letters; replicas share the work."""

    def __init__(self, client: Client, service: str, consumers: set[tuple[str, str]]) -> None:
        self._client = client
        self._service = service
        self._consumers = consumers
        self._dead_letters = DeadLetters(client)
        self._subscriptions: list[Subscription] = []

    async def start(self) -> None:
        """Listens for the given (stream, durable) pairs."""
        base = MAX_DELIVERIES.removesuffix(">")
        for stream, durable in sorted(self._consumers):
            queue = f"{self._service}-advisories"
            self._subscriptions.append(
                await subscribe(self._client, f"{base}{stream}.{durable}", self._on_advisory, queue=queue)
            )

    async def _on_advisory(self, message: Msg) -> None:
        try:
            advisory = orjson.loads(message.data)
            stream, seq = str(advisory["stream"]), int(advisory["stream_seq"])
            stored = await DirectReader(self._client, stream).at(seq)
            if stored is None:
                log.warning("advisory.message_gone", stream=stream, seq=seq)
                return
            new = await self._dead_letters.put(
                service=self._service,
                stream=stream,
                subject=stored.subject,
                body=stored.event,
                reason=f"delivered {advisory['deliveries']} times and never acknowledged",
                origin_seq=seq,
                deliveries=int(advisory["deliveries"]),
            )
            if new:
                log.error("advisory.dead_letter", stream=stream, seq=seq, consumer=advisory.get("consumer"))
        except (RuntimeFault, ValueError, KeyError) as error:
            log.exception("advisory.failed", error=str(error))
