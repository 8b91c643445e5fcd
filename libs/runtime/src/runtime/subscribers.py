"""Durable consumers through FastStream, with one rule for what happens to a message.

FastStream's default acknowledgement terminates a message whose handler raises: it is lost after one delivery. Here
acknowledgement is manual, in one middleware: the handler returns Ack (or nothing), Retry(delay) or DeadLetter(reason);
if it raises, the message is delivered again after growing pauses. A misfit becomes a dead letter at once, and so does a
message that was delivered `max_deliver` times. If a service dies during the last delivery, the server's MAX_DELIVERIES
advisory is handled as well (runtime.advisories).

For work that takes long or needs much concurrency use runtime.pull_worker.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from types import TracebackType
from typing import Any, cast

import structlog
from fast_depends.exceptions import ValidationError as ParameterError
from faststream import AckPolicy, BaseMiddleware
from faststream.message import StreamMessage
from faststream.nats import JStream, NatsBroker, PullSub
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy as ServerAckPolicy
from nats.js.api import ConsumerConfig
from pydantic import ValidationError

from runtime import correlation
from runtime.batch_worker import invalid_fields
from runtime.consumers import ConsumerSpec
from runtime.dead_letters import DeadLetters
from runtime.deliveries import Delivery, delivery_of, pause_after
from runtime.metrics import CONSUME_SECONDS, CONSUMED
from runtime.outcomes import Ack, DeadLetter, Outcome, Retry
from runtime.telemetry import remote_span

__all__ = ["Ack", "DeadLetter", "Delivery", "Retry", "Subscribers", "current_delivery"]

log = structlog.get_logger(__name__)

MAX_DELIVER = 10
LONGEST_WORK = 60.0
"""Seconds that a handler may take; then it is cancelled, and its message is delivered again."""
ENDED_WITHIN = 10.0
"""Seconds for a cancelled handler to end."""
_JETSTREAM = "$JS.ACK."
_current: ContextVar[Delivery] = ContextVar("nexus_delivery")


def current_delivery() -> Delivery:
    """The message being handled: subject, sequence, headers, number of deliveries. Only inside a handler."""
    return _current.get()


class Subscribers:
    """The consumers of one service. Made by runtime.service; `subscriber` decorates a handler."""

    def __init__(self, service: str, inbox_prefix: str = "_INBOX") -> None:
        self.service = service
        self._inbox_prefix = f"{inbox_prefix}.".encode()
        self.specs: list[ConsumerSpec] = []
        self._dead_letters: DeadLetters | None = None
        self._limits: dict[str, ConsumerSpec] = {}
        self.in_work: dict[object, float] = {}
        """Messages being handled, and since when (time.monotonic())."""

    def connected(self, client: Client) -> None:
        self._dead_letters = DeadLetters(client)

    def middleware(self, message: Any, /, *, context: Any) -> ConsumeMiddleware:
        """FastStream's middleware factory: pass it to the broker."""
        return ConsumeMiddleware(message, context=context, owner=self)

    def subscriber(
        self,
        broker: NatsBroker,
        subject: str,
        *,
        stream: str,
        durable: str,
        max_deliver: int = MAX_DELIVER,
        ack_wait: float = 30.0,
        batch: int = 50,
        max_ack_pending: int = 1000,
        deliver_policy: str = "all",
        title: str | None = None,
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """A decorator: the function handles one message of `subject` at a time, up to `batch` concurrently.

        Its one parameter is the event (a validated contracts.envelope.CloudEvent[…]), and it returns Ack, Retry,
        DeadLetter or None. All replicas that name the same `durable` share the work.
        """
        spec = ConsumerSpec(
            stream=stream,
            durable=durable,
            subjects=(subject,),
            ack_wait=ack_wait,
            max_deliver=max_deliver,
            max_ack_pending=max_ack_pending,
            deliver_policy=deliver_policy,
        )
        self.specs.append(spec)
        self._limits[durable] = spec
        register = broker.subscriber(
            subject,
            durable=durable,
            stream=JStream(stream, declare=False),
            config=ConsumerConfig(durable_name=durable, ack_policy=ServerAckPolicy.EXPLICIT),
            pull_sub=PullSub(batch_size=batch, timeout=5.0),
            inbox_prefix=self._inbox_prefix,
            ack_policy=AckPolicy.MANUAL,
            no_reply=True,
            title=title or subject,
        )
        return cast("Callable[[Callable[..., Any]], Callable[..., Any]]", register)

    def stuck_because(self, broker: NatsBroker) -> str | None:
        """See runtime.liveness: a consumer takes more messages only when all that it has taken are settled."""
        ended = time.monotonic() - LONGEST_WORK - ENDED_WITHIN
        if any(since < ended for since in self.in_work.values()):
            return f"a handler was broken off after {LONGEST_WORK:g} s and does not end"
        for one in broker.subscribers:
            tasks: list[asyncio.Task[Any]] = getattr(one, "tasks", [])
            if tasks and all(task.done() for task in tasks):
                return "a consumer's task has ended"
        return None

    async def settle(self, message: Msg, delivery: Delivery, durable: str, outcome: Outcome) -> None:
        """Acknowledges, returns or dead-letters a message."""
        spec = self._limits.get(durable)
        if isinstance(outcome, DeadLetter):
            stream = spec.stream if spec else "unknown"
            outcome = (
                Retry(1.0)
                if self._dead_letters is None
                else await self._dead_letters.bury(delivery, outcome.reason, service=self.service, stream=stream)
            )
        with suppress(NatsError):
            match outcome:
                case Retry(delay):
                    await message.nak(delay or None)
                case Ack():
                    await message.ack()
                case DeadLetter():
                    await message.term()

    def outcome_of(self, error: BaseException, delivery: Delivery, durable: str) -> Outcome:
        """The outcome for an exception: misfit, one failure too many, or another try later."""
        if isinstance(error, asyncio.CancelledError):
            return Retry(0)
        if isinstance(error, ValidationError | ParameterError):
            return DeadLetter(f"does not fit its contract: {_brief(error)}")
        spec = self._limits.get(durable)
        limit = spec.max_deliver if spec else -1
        if 0 < limit <= delivery.num_delivered:
            return DeadLetter(f"failed {delivery.num_delivered} times, last with {type(error).__name__}: {error}")
        return Retry(pause_after(error, delivery.num_delivered))


class ConsumeMiddleware(BaseMiddleware[Any, Any]):
    """One message's way through its handler. Core NATS messages pass untouched."""

    def __init__(self, message: Any, /, *, context: Any, owner: Subscribers) -> None:
        super().__init__(message, context=context)
        self._owner = owner
        self._settled = False

    async def consume_scope(self, call_next: Callable[[Any], Any], msg: StreamMessage[Any]) -> Any:
        """Runs the handler and settles its message."""
        raw = self._raw()
        if raw is None:
            return await call_next(msg)
        delivery = delivery_of(raw)
        with correlation.received(delivery.headers):
            return await self._handle(call_next, msg, raw, delivery)

    async def _handle(
        self, call_next: Callable[[Any], Any], msg: StreamMessage[Any], raw: Msg, delivery: Delivery
    ) -> None:
        durable = _durable(raw)
        token = _current.set(delivery)
        started = time.perf_counter()
        outcome: Outcome
        self._owner.in_work[self] = time.monotonic()
        try:
            with remote_span(durable, delivery.headers):
                async with asyncio.timeout(LONGEST_WORK):
                    result = await call_next(msg)
            outcome = result if isinstance(result, Ack | Retry | DeadLetter) else Ack()
            name = outcome.label
        except (Exception, asyncio.CancelledError) as error:
            outcome = self._owner.outcome_of(error, delivery, durable)
            name = "invalid" if isinstance(error, ValidationError | ParameterError) else "error"
            if isinstance(outcome, Retry) and not isinstance(error, asyncio.CancelledError):
                log.exception(
                    "consume.failed",
                    consumer=durable,
                    subject=delivery.subject,
                    seq=delivery.seq,
                    attempt=delivery.num_delivered,
                    retry_in=round(outcome.delay, 2),
                )
            self._settled = True
            await self._owner.settle(raw, delivery, durable, outcome)
            if isinstance(error, asyncio.CancelledError):
                raise
            return
        finally:
            self._owner.in_work.pop(self, None)
            _current.reset(token)
            CONSUME_SECONDS.labels(durable).observe(time.perf_counter() - started)
        CONSUMED.labels(durable, name).inc()
        self._settled = True
        await self._owner.settle(raw, delivery, durable, outcome)
        return

    async def after_processed(
        self,
        exc_type: type[BaseException] | None = None,
        exc_val: BaseException | None = None,
        exc_tb: TracebackType | None = None,
    ) -> bool | None:
        """Settles what never reached the handler, such as a message that could not be parsed."""
        raw = self._raw()
        if raw is not None and exc_val is not None and not self._settled:
            delivery, durable = delivery_of(raw), _durable(raw)
            await self._owner.settle(raw, delivery, durable, self._owner.outcome_of(exc_val, delivery, durable))
        return False

    def _raw(self) -> Msg | None:
        raw: object = self.msg
        return raw if isinstance(raw, Msg) and raw.reply.startswith(_JETSTREAM) else None


def _durable(message: Msg) -> str:
    tokens = message.reply.split(".")
    return tokens[3] if len(tokens) == 9 else tokens[5]


def _brief(error: ValidationError | ParameterError) -> str:
    """Which fields are wrong, without their values, which may be secret."""
    cause = error if isinstance(error, ValidationError) else error.original_error
    if isinstance(cause, ValidationError):
        return invalid_fields(cause)
    return type(cause).__name__
