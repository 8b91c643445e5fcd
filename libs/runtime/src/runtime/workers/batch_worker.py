"""Consumes small facts in batches from a durable pull consumer: a batch costs hardly more than one fact.

The handler receives a batch and returns an outcome for each message. If it raises because a dependency is unavailable,
the whole batch is delivered again. After any other error the messages are handled one by one, so that a bad one does
not delay the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from pydantic import BaseModel, ValidationError

from contracts.errors import NexusError
from runtime.background import start_task
from runtime.bus.consumers import ConsumerSpec, ensure_consumer
from runtime.bus.marks import Marks
from runtime.calls.refusals import wrong_fields
from runtime.errors import NotReadyError
from runtime.observability import correlation
from runtime.observability.metrics import CONSUME_SECONDS, CONSUMED
from runtime.observability.telemetry import caller, record
from runtime.workers.batches import PullBatches
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.deliveries import Delivery, delivery_of, pause_after
from runtime.workers.outcomes import Ack, AckAfter, DeadLetter, Outcome, Retry

log = structlog.get_logger(__name__)

BATCH_SIZE = 256
LINGER_SECONDS = 0.25
"""Default time that a batch has to fill, in seconds."""
WAIT_SECONDS = 15.0
"""Seconds of one wait for a batch; a lost request and the worker's end are noticed earlier."""
HANDLER_TIMEOUT = 60.0
"""Seconds that a handler may take; then it is cancelled, and its messages are delivered again."""
END_TIMEOUT = 10.0
"""Seconds that a cancelled handler has to end."""
RETRY_PAUSE = 1.0
"""Seconds before the next batch if the consumer is unavailable."""

Handler = Callable[[Sequence[Delivery]], Awaitable[Sequence[Outcome | AckAfter]]]
EventT = TypeVar("EventT", bound=BaseModel)
MAX_AT_ONCE = 50
"""Messages of a batch handled concurrently, if each is handled separately."""


class BatchWorker:
    """Passes batches to `handler` for as long as the service lives. Replicas with the same durable share the work."""

    def __init__(
        self,
        client: Client,
        spec: ConsumerSpec,
        handler: Handler,
        *,
        service: str,
        linger: float = LINGER_SECONDS,
        urgent: Callable[[Msg], bool] = lambda _: False,
    ) -> None:
        """`linger`: seconds that a batch has to fill; an `urgent` message ends this wait."""
        self._client = client
        self._spec = spec
        self._handler = handler
        self._service = service
        self._linger = linger
        self._batches = PullBatches(client, spec.stream, spec.durable, BATCH_SIZE, urgent)
        self._dead_letters = DeadLetters(self._client)
        self._marks = Marks.of(self._client)
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._progressed_at = 0.0
        self._slots = asyncio.Semaphore(MAX_AT_ONCE)
        self._unfinished: set[asyncio.Task[None]] = set()
        self.settled: Callable[[], None] | None = None
        """Called when the outcomes of a batch have been carried out."""

    @property
    def name(self) -> str:
        return self._spec.durable

    def stuck_because(self) -> str | None:
        """Returns a problem that only a new process can solve (runtime.liveness), or None."""
        if self._task is None or self._stopping:
            return None
        if self._task.done():
            return "its task has ended"
        if time.monotonic() - self._progressed_at > HANDLER_TIMEOUT + END_TIMEOUT:
            return f"a handler was broken off after {HANDLER_TIMEOUT:g} s and does not end"
        return "its requests are not answered on a connection that is up" if self._batches.is_deaf else None

    async def start(self) -> None:
        """Creates or updates the consumer and starts consuming.

        Raises:
            NotReadyError: the stream is missing, or the existing consumer cannot be changed as needed.
        """
        await self.ensure()
        await self._batches.open()
        self._progressed_at = time.monotonic()
        self._task = asyncio.create_task(self._run(), name=self._spec.durable)

    async def ensure(self, deadline: float = 15.0) -> None:
        """Creates or updates the consumer within `deadline` seconds; raises NotReadyError."""
        await ensure_consumer(self._client, self._spec, deadline=deadline)

    async def drain(self, deadline: float = 20.0) -> None:
        """Stops consuming; messages that have arrived are handled within `deadline` seconds, or delivered again
        later."""
        self._stopping = True
        self._batches.wake()
        end = time.monotonic() + deadline
        if self._task is not None:
            await asyncio.wait({self._task}, timeout=deadline)
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
        if self._unfinished:
            _, late = await asyncio.wait(self._unfinished, timeout=max(end - time.monotonic(), 0))
            for task in late:
                task.cancel()

    async def _run(self) -> None:
        while not self._stopping:
            self._progressed_at = time.monotonic()
            try:
                messages = await self._batches.next(WAIT_SECONDS, self._linger)
                if messages:
                    await self._handle(messages)
            except NatsError as error:
                log.warning(
                    "batch.consumer_away", consumer=self._spec.durable, error=str(error) or type(error).__name__
                )
                await asyncio.sleep(RETRY_PAUSE)
                with contextlib.suppress(NotReadyError):
                    await self.ensure(deadline=2.0)
            except Exception:
                # The messages are delivered again; only this loop must never end.
                log.exception("batch.left", consumer=self._spec.durable)
                await asyncio.sleep(RETRY_PAUSE)
        await self._handle(await self._batches.close())

    async def _handle(self, messages: Sequence[Msg]) -> None:
        if not messages:
            return
        pairs = [(message, delivery_of(message, self._marks)) for message in messages]
        try:
            outcomes = await self._outcomes([delivery for _, delivery in pairs])
        except Exception as error:
            if len(pairs) > 1 and not (isinstance(error, TimeoutError | NexusError) and _is_retryable(error)):
                for message in messages:
                    await self._handle([message])
                return
            # A message that failed alone belongs to one conversation, a batch to many.
            with correlation.received(pairs[0][1].headers if len(pairs) == 1 else {}):
                log.exception("batch.failed", consumer=self._spec.durable, seq=pairs[0][1].seq, messages=len(pairs))
            outcomes = [Retry(pause_after(error, delivery.num_delivered)) for _, delivery in pairs]
        for (message, delivery), outcome in zip(pairs, outcomes, strict=True):
            CONSUMED.labels(self._spec.durable, outcome.label).inc()
            with correlation.received(delivery.headers):
                log.debug("batch.handled", consumer=self._spec.durable, seq=delivery.seq, outcome=outcome.label)
                if isinstance(outcome, AckAfter):
                    start_task(self._finish(message, delivery, outcome), self._unfinished)
                else:
                    await self._settle(message, delivery, outcome)
        if self.settled is not None:
            self.settled()

    async def _outcomes(self, deliveries: Sequence[Delivery]) -> Sequence[Outcome | AckAfter]:
        started_ns, started = time.time_ns(), time.perf_counter()
        self._progressed_at = time.monotonic()
        async with asyncio.timeout(HANDLER_TIMEOUT):
            outcomes = await self._handler(deliveries)
        CONSUME_SECONDS.labels(self._spec.durable).observe(time.perf_counter() - started)
        for delivery in deliveries:
            record(
                self._spec.durable, started_ns, time.time_ns(), under=caller(delivery.headers), facts=len(deliveries)
            )
        return outcomes

    async def _finish(self, message: Msg, delivery: Delivery, outcome: AckAfter) -> None:
        """Finishes the remaining work of a message, at most MAX_AT_ONCE concurrently, then settles it."""
        final: Outcome = Ack()
        try:
            async with self._slots:
                await outcome.work()
        except Exception as error:
            log.warning("batch.unfinished", consumer=self._spec.durable, seq=delivery.seq, error=repr(error)[:200])
            final = Retry(pause_after(error, delivery.num_delivered))
        await self._settle(message, delivery, final)

    async def _settle(self, message: Msg, delivery: Delivery, outcome: Outcome) -> None:
        if isinstance(outcome, DeadLetter):
            outcome = await self._dead_letters.bury(
                delivery, outcome.reason, service=self._service, stream=self._spec.stream
            )
        with contextlib.suppress(NatsError):
            if isinstance(outcome, Retry):
                await message.nak(outcome.delay or None)
            elif isinstance(outcome, DeadLetter):
                await message.term()
            else:
                await message.ack()


def each_event(event: type[EventT], take: Callable[[Delivery, EventT], Awaitable[Outcome]]) -> Handler:
    """Returns a handler that passes each event of a batch to `take` separately and concurrently: a misfit becomes a
    dead letter, a failed one is delivered again."""
    slots = asyncio.Semaphore(MAX_AT_ONCE)

    async def handle(delivery: Delivery) -> Outcome:
        with correlation.received(delivery.headers):
            parsed = _parse(event, delivery)
            if not isinstance(parsed, BaseModel):
                return parsed
            async with slots:
                try:
                    return await take(delivery, parsed)
                except Exception as error:
                    log.exception(
                        "consume.failed", subject=delivery.subject, seq=delivery.seq, attempt=delivery.num_delivered
                    )
                    return Retry(pause_after(error, delivery.num_delivered))

    async def handle_batch(deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
        return await asyncio.gather(*map(handle, deliveries))

    return handle_batch


def whole_batch(
    event: type[EventT], take: Callable[[Sequence[tuple[Delivery, EventT]]], Awaitable[Sequence[Outcome]]]
) -> Handler:
    """Returns a handler that passes all events of a batch to `take` together; a misfit becomes a dead letter."""

    async def handle_batch(deliveries: Sequence[Delivery]) -> Sequence[Outcome]:
        parsed = [_parse(event, delivery) for delivery in deliveries]
        pairs = zip(deliveries, parsed, strict=True)
        valid = [(delivery, result) for delivery, result in pairs if isinstance(result, BaseModel)]
        outcomes = iter(await take(valid) if valid else ())
        return [next(outcomes) if isinstance(result, BaseModel) else result for result in parsed]

    return handle_batch


def _parse(event: type[EventT], delivery: Delivery) -> EventT | Outcome:
    if not delivery.genuine:
        return Ack()  # the projection, which reads everything, writes its dead letter
    try:
        return event.model_validate_json(delivery.data)
    except ValidationError as error:
        return DeadLetter(f"does not fit its contract: {wrong_fields(error)}")


def _is_retryable(error: Exception) -> bool:
    return isinstance(error, TimeoutError) or bool(getattr(error, "retryable", False))
