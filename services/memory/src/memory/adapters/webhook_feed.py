"""Feeds webhook deliveries: each fact that a company wants becomes one waiting delivery for each endpoint in the stream
WEBHOOKS.

The durable consumers exist only while some company has webhooks, so that facts cost nothing otherwise. All replicas
share them; a copy is recognised by its id.
"""

import asyncio
import contextlib
import time

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from contracts.channels import CHAT_ALL, webhook_delivery
from contracts.streams import CHAT, FACTS, WEBHOOKS
from contracts.webhooks import TOLD
from memory.adapters.webhook_table import WebhookTable
from memory.domain.webhooks import NotTold, company_of, told, wanted
from runtime.batches import PullBatches
from runtime.connection import jetstream
from runtime.consumers import ConsumerSpec, ensure_consumer
from runtime.deliveries import delivery_of
from runtime.errors import NotReady, PublishFailed, PublishRefused
from runtime.marks import Marks
from runtime.publisher import Publisher

DURABLE = "memory-webhooks"
SPECS = (
    ConsumerSpec(CHAT.name, DURABLE, (CHAT_ALL,), max_ack_pending=5_000, deliver_policy="new"),
    ConsumerSpec(
        FACTS.name,
        DURABLE,
        tuple(f"{name}.>" if name != "turn.failed.v1" else f"{name}.*.-" for name in TOLD if name[:5] != "chat."),
        max_ack_pending=5_000,
        deliver_policy="new",
    ),
)
BATCH = 256
WAIT = 15.0
"""Seconds of one pull request; a lost request is noticed before."""
LINGER = 0.02
"""Seconds to let a batch fill."""
RETRY = 1.0
UNUSED = 60.0
"""Seconds without any webhook after which the consumers are deleted: another replica may be about to use them."""

_log = structlog.get_logger(__name__)


class WebhookFeed:
    """Runs while the table has endpoints."""

    def __init__(self, client: Client, table: WebhookTable) -> None:
        self._client = client
        self._table = table
        self._publisher = Publisher(client)
        self._marks = Marks.of(client)
        self._tasks: list[asyncio.Task[None]] = []
        self._stopping = asyncio.Event()
        self._unused_since = 0.0
        self._lock = asyncio.Lock()

    async def start(self) -> None:
        """Starts if there are endpoints."""
        await self.follow()

    async def follow(self) -> None:
        """Starts or stops as endpoints come and go. Raises NotReady if the consumers cannot be created."""
        async with self._lock:
            if not self._table.empty:
                self._unused_since = 0.0
                if not self._tasks and not self._stopping.is_set():
                    await self._begin()
            elif self._tasks:
                self._unused_since = self._unused_since or time.monotonic()
                if time.monotonic() - self._unused_since > UNUSED:
                    await self._end()
                    await self._delete()

    def stuck_because(self) -> str | None:
        """See runtime.liveness: problems that only a restart can solve."""
        ended = [task.get_name() for task in self._tasks if task.done()]
        return f"{ended[0]} has ended" if ended and not self._stopping.is_set() else None

    async def stop(self) -> None:
        """Accepts nothing new; what has arrived and was not queued is delivered again."""
        self._stopping.set()
        async with self._lock:
            await self._end()

    async def _begin(self) -> None:
        for spec in SPECS:
            await ensure_consumer(self._client, spec, deadline=5.0)
        self._tasks = [asyncio.create_task(self._run(spec), name=f"webhooks of {spec.stream}") for spec in SPECS]

    async def _end(self) -> None:
        tasks, self._tasks = self._tasks, []
        for task in tasks:
            task.cancel()
        for task in tasks:
            with contextlib.suppress(asyncio.CancelledError):
                await task

    async def _delete(self) -> None:
        for spec in SPECS:
            with contextlib.suppress(NatsError, TimeoutError):
                await jetstream(self._client).delete_consumer(spec.stream, spec.durable)

    async def _run(self, spec: ConsumerSpec) -> None:
        batches = PullBatches(self._client, spec.stream, spec.durable, BATCH)
        await batches.open()
        try:
            while True:
                try:
                    messages = await batches.next(WAIT, LINGER)
                    if messages:
                        await self._pass_on(messages)
                except NatsError as error:
                    _log.warning("webhooks.consumer_away", stream=spec.stream, error=str(error) or type(error).__name__)
                    await asyncio.sleep(RETRY)
                    with contextlib.suppress(NotReady):
                        await ensure_consumer(self._client, spec, deadline=2.0)
                except Exception:
                    # What was taken is delivered again; this must not end.
                    _log.exception("webhooks.batch_left", stream=spec.stream)
                    await asyncio.sleep(RETRY)
        finally:
            for message in await batches.close():
                await message.nak()

    async def _pass_on(self, messages: list[Msg]) -> None:
        for position, message in enumerate(messages):
            try:
                await self._queue(message)
            except PublishFailed as error:
                # In order: what comes after it waits as well.
                _log.warning("webhooks.not_queued", error=str(error), waiting=len(messages) - position)
                for late in messages[position:]:
                    await late.nak(delay=RETRY)
                return
            await message.ack()

    async def _queue(self, message: Msg) -> None:
        """Raises PublishFailed if a retry may work."""
        company = company_of(message.subject)
        endpoints = self._table.of(company) if company else []
        if not endpoints or not delivery_of(message, self._marks).genuine:
            return
        try:
            fact = told(message.subject, message.metadata.sequence.stream, message.data)
        except NotTold as error:
            _log.warning("webhooks.no_event", reason=str(error))
            return
        for endpoint in wanted(endpoints, fact.event_type, fact.about):
            try:
                await self._publisher.append(
                    webhook_delivery(fact.company, endpoint.id),
                    fact.body,
                    stream=WEBHOOKS.name,
                    msg_id=f"{endpoint.id}.{fact.event_type}.{fact.event_id}",
                )
            except PublishRefused as error:
                _log.error("webhooks.refused", company=fact.company, type=fact.event_type, error=str(error))
