"""Queues webhook deliveries: each fact becomes one delivery in the stream WEBHOOKS for each endpoint that subscribes to
it.

The durable consumers exist only while some company has webhooks, so that facts cost nothing otherwise. All replicas
share them; a copy is recognised by its id.
"""

import asyncio
import contextlib
import time
from collections.abc import Sequence

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from contracts.channels import CHAT_ALL, webhook_delivery
from contracts.streams import CHAT, FACTS, WEBHOOKS
from contracts.webhooks import WEBHOOK_EVENTS
from memory.adapters.webhook_table import WebhookTable
from memory.domain.webhooks import NoWebhookEventError, company_of, subscribed, webhook_event
from runtime.bus.connection import jetstream
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.publisher import Publisher
from runtime.errors import PublishFailedError, PublishRefusedError
from runtime.workers.batch_worker import BatchWorker
from runtime.workers.deliveries import Delivery
from runtime.workers.outcomes import Ack, Outcome, Retry

DURABLE = "memory-webhooks"
SPECS = (
    ConsumerSpec(CHAT.name, DURABLE, (CHAT_ALL,), max_ack_pending=5_000, deliver_policy="new"),
    ConsumerSpec(
        FACTS.name,
        DURABLE,
        tuple(
            f"{event_type}.>" if event_type != "turn.failed.v1" else f"{event_type}.*.-"
            for event_type in WEBHOOK_EVENTS
            if event_type[:5] != "chat."
        ),
        max_ack_pending=5_000,
        deliver_policy="new",
    ),
)
LINGER_SECONDS = 0.02
"""How long a batch may fill."""
RETRY_SECONDS = 1.0
"""When facts that could not be queued are delivered again."""
DRAIN_TIMEOUT_SECONDS = 5.0
"""How long it may still queue what has arrived when it stops."""
UNUSED_SECONDS = 60.0
"""The consumers are deleted after this time without webhooks, since another replica may be about to use them."""

_log = structlog.get_logger(__name__)


class WebhookFeed:
    """Queues deliveries while the table has endpoints."""

    name = "webhook feed"

    def __init__(self, client: Client, table: WebhookTable) -> None:
        self._client = client
        self._table = table
        self._publisher = Publisher(client)
        self._workers: list[BatchWorker] = []
        self._stopping = False
        self._unused_since = 0.0
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Starts if there are endpoints."""
        await self.follow()

    async def follow(self) -> None:
        """Starts or stops as endpoints come and go. Raises NotReadyError if the consumers cannot be created."""
        async with self._lock:
            if not self._table.empty:
                self._unused_since = 0.0
                for spec in () if self._stopping else SPECS[len(self._workers) :]:
                    worker = BatchWorker(self._client, spec, self._queue_all, service="memory", linger=LINGER_SECONDS)
                    await worker.start()
                    self._workers.append(worker)
            elif self._workers:
                self._unused_since = self._unused_since or time.monotonic()
                if time.monotonic() - self._unused_since > UNUSED_SECONDS:
                    await self._stop_workers()
                    await self._delete_consumers()

    def stuck_because(self) -> str | None:
        """See runtime.liveness: problems that only a restart can solve."""
        return next((reason for worker in self._workers if (reason := worker.stuck_because())), None)

    async def stop(self) -> None:
        """Accepts nothing new; facts that have arrived but are not queued are delivered again."""
        self._stopping = True
        async with self._lock:
            await self._stop_workers()

    async def _stop_workers(self) -> None:
        workers, self._workers = self._workers, []
        await asyncio.gather(*(worker.drain(DRAIN_TIMEOUT_SECONDS) for worker in workers))

    async def _delete_consumers(self) -> None:
        for spec in SPECS:
            with contextlib.suppress(NatsError, TimeoutError):
                await jetstream(self._client).delete_consumer(spec.stream, spec.durable)

    async def _queue_all(self, facts: Sequence[Delivery]) -> Sequence[Outcome]:
        for position, fact in enumerate(facts):
            try:
                await self._queue(fact)
            except PublishFailedError as error:
                # The order is kept: later facts wait as well.
                remaining = len(facts) - position
                _log.warning("webhooks.not_queued", error=str(error), waiting=remaining)
                return [*[Ack()] * position, *[Retry(RETRY_SECONDS)] * remaining]
        return [Ack()] * len(facts)

    async def _queue(self, delivery: Delivery) -> None:
        """Queues the deliveries of one fact; raises PublishFailedError if a retry may succeed."""
        company = company_of(delivery.subject)
        endpoints = self._table.of(company) if company else []
        if not endpoints or not delivery.genuine:
            return
        try:
            fact = webhook_event(delivery.subject, delivery.seq, delivery.data)
        except NoWebhookEventError as error:
            _log.warning("webhooks.no_event", reason=str(error))
            return
        for endpoint in subscribed(endpoints, fact.event_type, fact.about):
            try:
                await self._publisher.append(
                    webhook_delivery(fact.company, endpoint.id),
                    fact.body,
                    stream=WEBHOOKS.name,
                    msg_id=f"{endpoint.id}.{fact.event_type}.{fact.event_id}",
                )
            except PublishRefusedError as error:
                _log.error("webhooks.refused", company=fact.company, type=fact.event_type, error=str(error))
