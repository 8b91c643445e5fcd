"""Pull consumers for work that is long or must run concurrently: turns and tool calls.

An idle worker requests one message, so if it freezes it takes at most one. When messages follow each other closely, it
requests as many as it has free slots (at most 100), for two seconds. Messages without a free slot wait in a backlog. An
exception from a handler is never an acknowledgement. A delivery is a lease: the server gives the message to another
worker unless it receives "in progress" within `ack_wait`; one task sends this for all messages that the worker holds.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.background import finish
from runtime.bus.connection import post
from runtime.bus.consumers import ConsumerSpec, ensure_consumer, may_be_redelivered
from runtime.bus.marks import Marks
from runtime.bus.replies import ReplyInbox
from runtime.errors import NotReadyError
from runtime.observability import correlation
from runtime.observability.metrics import CONSUME_SECONDS, CONSUMED, IN_WORK
from runtime.observability.telemetry import remote_span
from runtime.recent import Recent
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.deliveries import Delivery, delivery_of, pause_after
from runtime.workers.outcomes import Ack, AckThen, DeadLetter, Outcome, Retry
from runtime.workers.pull_requests import CHECK_INTERVAL, PullRequests

__all__ = ["Ack", "AckThen", "DeadLetter", "Delivery", "Outcome", "PullWorker", "Retry"]

log = structlog.get_logger(__name__)

MAX_REQUEST = 100
LEASE = 2.2
"""Seconds after which a dead worker's messages go to another; it renewed its leases up to half a second before."""
RENEWALS_PER_LEASE = 5
"""Renewals in one lease, rounded to whole checks: three of them may be lost or late."""
BUSY_GAP_SECONDS, BUSY_SECONDS = 0.1, 1.0
"""If two messages come within the first, in seconds, then for the second the worker requests many at once."""
COMPANY_SHARE = 4
"""While others wait, one company may hold this many slots for each that is free, as it may fill the log
(docs/decisions/0040)."""
MIN_POSTPONED_SECONDS, POSTPONED_PER_SECOND = 0.1, 400
"""The least seconds until a postponed message comes back, and how many of them come back in a second."""
ACK_DEADLINE = 2.0
"""Seconds that the server has to confirm an acknowledgement."""
HANDLER_TIMEOUT = 300.0
"""Default seconds that a handler may take; then it is cancelled, and its message is delivered again."""
MAX_PAUSES, MAX_REPORTED = 20_000, 10_000
"""How many messages are remembered as handed back, and as reported."""
END_TIMEOUT = 10.0
"""Seconds that a cancelled handler has to end, and that one round of `_keep` may take."""

Handler = Callable[[Delivery], Awaitable[Outcome | AckThen]]


class PullWorker:
    """Takes messages of one durable consumer and runs `handler` for up to `slots` of them concurrently.

    The handler returns Ack(), AckThen(then), Retry(delay) or DeadLetter(reason).
    If it raises, the message is delivered again after a growing pause (0.3 s to 30 s), for ever: a handler that wants
    to give up counts attempts itself and returns DeadLetter.
    """

    def __init__(
        self,
        client: Client,
        stream: str,
        durable: str,
        subjects: Sequence[str],
        handler: Handler,
        *,
        slots: int = 64,
        starting: int | None = None,
        ack_wait: float = LEASE,
        service: str | None = None,
        handler_timeout: float = HANDLER_TIMEOUT,
        others_wait: Callable[[str], bool] | None = None,
    ) -> None:
        """`starting`: the most handlers at once that have not called `Delivery.under_way`, if fewer than `slots`.
        `handler_timeout`: seconds after which a handler is cancelled, well above what any healthy one takes.
        `others_wait`: whether a message of another company than this one waits. If given, a company that holds its
        share of the slots meanwhile gets no more; its next messages go back to the server for a moment. The company is
        the second token of a subject."""
        self._client = client
        self._handler_timeout = handler_timeout
        self._spec = ConsumerSpec(
            stream=stream, durable=durable, subjects=tuple(subjects), ack_wait=ack_wait, max_ack_pending=50_000
        )
        self._handler = handler
        self._slots, self._max_starting = slots, min(starting or slots, slots)
        self._service = service or durable
        self._inbox = ReplyInbox.of(self._client)
        self._dead_letters = DeadLetters(self._client)
        self._requests = PullRequests(client, stream, durable, on_message=self._on_message, on_end=self._on_end)
        self._keeper: asyncio.Task[None] | None = None
        self._running: dict[asyncio.Task[None], tuple[Msg, float]] = {}
        self._others_wait = others_wait
        self._postponed: deque[float] = deque()  # when postponed messages come back, by time.monotonic()
        self._starting: dict[str, tuple[Msg, float]] = {}  # by reply subject, those that are not under way
        self._backlog: deque[tuple[Msg, float]] = deque()  # messages without a slot, and when they were read
        self._reported = Recent[int, bool](MAX_REPORTED)
        """Sequences of messages whose outcome has been reported (outcomes.AckThen)."""
        self._arrived_at = self._busy_until = self._hold_until = 0.0
        self._draining = False
        self._consumer_lost = False
        self._checked_at = self._renewed_at = time.monotonic()
        self._stalled_at = 0.0
        self.handed_back: deque[float] = deque(maxlen=MAX_PAUSES)
        """When messages that were handed back with a pause are due again, by time.monotonic(), in the order in which
        they were handed back. The reader (runtime.workers.backlog) removes times that are past."""

    @property
    def client(self) -> Client:
        return self._client

    @property
    def spec(self) -> ConsumerSpec:
        return self._spec

    @property
    def in_work(self) -> int:
        """The number of handlers that are running."""
        return len(self._running)

    @property
    def listening(self) -> bool:
        """Whether the server has answered lately, or nothing is requested because all slots are busy."""
        return self._client.is_connected and not self._requests.is_silent

    @property
    def stalled_at(self) -> float:
        """The last time, by time.monotonic(), at which leases had not been renewed for nearly a lease: the process was
        frozen, or the server unreachable. 0 if that never happened. Messages held before may have gone to another
        worker."""
        now = time.monotonic()
        if now - self._renewed_at >= self._spec.ack_wait - CHECK_INTERVAL:
            self._stalled_at = now
        return self._stalled_at

    @property
    def name(self) -> str:
        return self._spec.durable

    def stuck_because(self) -> str | None:
        """Returns a problem that only a new process can solve (runtime.liveness), or None."""
        if self._keeper is None or self._draining:
            return None
        now = time.monotonic()
        if self._keeper.done() or now - self._checked_at > END_TIMEOUT:
            return "nobody keeps its leases and requests alive"
        if any(now - started_at > self._handler_timeout + END_TIMEOUT for _, started_at in self._running.values()):
            return f"a handler was broken off after {self._handler_timeout:g} s and does not end"
        if self._requests.is_deaf:
            return "its requests are not answered on a connection that is up"
        return None

    async def start(self) -> None:
        """Creates or updates the consumer and starts to take messages.

        Raises:
            NotReadyError: the stream is missing, or the existing consumer cannot be changed as needed.
        """
        await ensure_consumer(self._client, self._spec)
        await self._requests.open()
        self._checked_at = self._renewed_at = time.monotonic()
        self._keeper = asyncio.create_task(self._keep())
        self._request()

    async def drain(self, deadline: float = 20.0) -> None:
        """Takes no more messages, gives back those not started, lets running handlers finish within `deadline` seconds,
        and gives back the rest. Messages given back are delivered to other workers immediately."""
        self._draining = True
        end = time.monotonic() + deadline
        await self._requests.close(deadline)  # messages in transit are given back by _on_message
        while self._backlog:
            self._send(self._backlog.popleft()[0], b"-NAK")
        await finish(self._running, end - time.monotonic(), patience=2.0)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    def _on_message(self, message: Msg) -> None:
        now = time.monotonic()
        if now - self._arrived_at < BUSY_GAP_SECONDS:
            self._busy_until = now + BUSY_SECONDS
        self._arrived_at = now
        if self._draining:
            self._send(message, b"-NAK")
        else:
            self._backlog.append((message, now))
            self._fill()

    def _on_end(self, status: str, reason: str) -> None:
        if status:
            self._consumer_lost = self._consumer_lost or status in ("404", "503") or "Deleted" in reason
            # The consumer has moved or is gone: `_keep` requests again in a moment.
            self._hold_until = time.monotonic() + CHECK_INTERVAL
            log.info("pull.interrupted", consumer=self._spec.durable, status=status, reason=reason)
        self._request()

    def _on_done(self, message: Msg, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        self._on_started(message)

    def _on_started(self, message: Msg) -> None:
        self._starting.pop(message.reply, None)
        self._fill()

    def _fill(self) -> None:
        """Begins as many messages as may run, and requests more."""
        while self._backlog and not self._draining and self.room > 0:
            message, read_at = self._backlog.popleft()
            if self._has_its_share(message):
                self._postpone(message)
                continue
            task = asyncio.create_task(self._work(message, read_at))
            self._running[task] = self._starting[message.reply] = message, time.monotonic()
            task.add_done_callback(partial(self._on_done, message))
        IN_WORK.labels(self._spec.durable).set(len(self._running))
        self._request()

    def _has_its_share(self, message: Msg) -> bool:
        """Whether the message's company holds so many slots that it must leave the free ones to others, who wait."""
        if self._others_wait is None:
            return False
        company = _company_of(message)
        for held, slots in (
            (self._running.values(), self._slots),
            (self._starting.values(), self._max_starting),
        ):
            share = COMPANY_SHARE * (slots - len(held))
            if len(held) >= share and sum(_company_of(one) == company for one, _ in held) >= share:
                return self._others_wait(company)
        return False

    def _postpone(self, message: Msg) -> None:
        """Gives a message back to the server, which delivers it again behind those of other companies. It still counts
        as due (runtime.workers.backlog)."""
        seconds = max(self.postponed / POSTPONED_PER_SECOND, MIN_POSTPONED_SECONDS)
        self._postponed.append(time.monotonic() + seconds)
        self._send(message, b'-NAK {"delay": %d}' % int(seconds * 1e9))

    @property
    def postponed(self) -> int:
        """The number of messages that are back at the server because their company has its share."""
        now = time.monotonic()
        while self._postponed and self._postponed[0] <= now:
            self._postponed.popleft()
        return len(self._postponed)

    @property
    def room(self) -> int:
        """The number of messages that it can begin now."""
        return min(self._slots - len(self._running), self._max_starting - len(self._starting))

    async def _work(self, message: Msg, read_at: float) -> None:
        delivery = delivery_of(message, Marks.of(self._client), partial(self._on_started, message))
        with correlation.received(delivery.headers):
            await self._handle(message, delivery, read_at)

    async def _handle(self, message: Msg, delivery: Delivery, read_at: float) -> None:
        consumer = self._spec.durable
        started = time.perf_counter()
        outcome: Outcome | AckThen
        label = "error"
        try:
            with remote_span(f"{consumer} {self._spec.stream}", delivery.headers, root=True) as span:
                async with asyncio.timeout(self._handler_timeout):
                    reconnects = self._client.stats["reconnects"]
                    outcome = Ack() if self._reported.get(delivery.seq) else await self._handler(delivery)
                    if isinstance(outcome, AckThen) and await self._is_settled(message, delivery, read_at, reconnects):
                        await outcome.then()
                if isinstance(outcome, Retry):
                    # The message is delivered again: the trace should show that delivery, and the wait before it.
                    span.discard()
            label = outcome.label
        except asyncio.CancelledError:
            self._send(message, b"-NAK")
            raise
        except Exception as error:
            outcome = Retry(pause_after(error, delivery.num_delivered))
            log.exception(
                "pull.handler_failed",
                consumer=consumer,
                subject=delivery.subject,
                seq=delivery.seq,
                attempt=delivery.num_delivered,
                retry_in=round(outcome.delay, 2),
                kind=type(error).__name__,
            )
        CONSUMED.labels(consumer, label).inc()
        log.debug("pull.handled", consumer=consumer, subject=delivery.subject, seq=delivery.seq, outcome=label)
        CONSUME_SECONDS.labels(consumer).observe(time.perf_counter() - started)
        if not isinstance(outcome, AckThen):
            await self._settle(message, delivery, outcome)
        # The slot is free as soon as this returns: request now instead of at the next check.
        if (task := asyncio.current_task()) is not None:
            self._running.pop(task, None)
        self._on_started(message)

    async def _is_settled(self, message: Msg, delivery: Delivery, read_at: float, reconnects: int) -> bool:
        """Acknowledges a message; returns whether that settles it for good: this worker has held it since `read_at` on
        one connection, the server confirms in time, and no copy of it is in work. Later copies are not handled."""
        is_first = delivery.num_delivered == 1
        try:
            if is_first and await may_be_redelivered(self._client, self._spec, delivery.stored_at):
                return False  # another worker may have it and will settle it; otherwise it is delivered again
            await self._inbox.request(message.reply, b"+ACK", deadline=min(self._spec.ack_wait, ACK_DEADLINE))
        except (TimeoutError, NatsError, NotReadyError):
            log.warning("pull.ack_unconfirmed", consumer=self._spec.durable, seq=delivery.seq)
            return False
        other_seqs = (delivery_of(other).seq for other, _ in self._running.values() if other is not message)
        was_held = self.stalled_at < read_at and self._client.stats["reconnects"] == reconnects
        if is_settled := was_held and delivery.seq not in other_seqs:
            self._reported.keep(delivery.seq, True)
        return is_settled

    async def _settle(self, message: Msg, delivery: Delivery, outcome: Outcome) -> None:
        if isinstance(outcome, DeadLetter):
            outcome = await self._dead_letters.bury(
                delivery, outcome.reason, service=self._service, stream=self._spec.stream
            )
        if isinstance(outcome, Retry):
            nanoseconds = int(max(outcome.delay, 0) * 1_000_000_000)
            self.handed_back.append(time.monotonic() + nanoseconds / 1e9)
            self._send(message, b'-NAK {"delay": %d}' % nanoseconds if nanoseconds else b"-NAK")
        else:
            # If this is lost, the message is delivered again after its lease, and its handler sees that it is done.
            self._send(message, b"+ACK")

    def _send(self, message: Msg, reply: bytes) -> None:
        post(self._client, message.reply, reply)

    def _request(self) -> None:
        """Requests the next message; while messages follow each other closely, as many as there are free slots without
        a request."""
        now = time.monotonic()
        if self._draining or self._hold_until > now or not self._client.is_connected:
            return
        requested = self._requests.open_count
        is_busy = now < self._busy_until
        room = self.room
        if room > 0 and self.postponed:
            # Other companies' messages may lie behind many of the one that is postponed.
            room, is_busy = MAX_REQUEST, True
        count = min(room - len(self._backlog) - requested, MAX_REQUEST if is_busy else 1)
        # To save messages, further requests are sent only for at least a quarter of the slots.
        if count <= 0 or (requested and (not is_busy or count < min(self._max_starting, MAX_REQUEST) // 4)):
            return
        self._requests.send(count, is_busy=is_busy)

    async def _keep(self) -> None:
        """Renews the leases of messages being handled, and the requests at the server; no error ends it."""
        while True:
            await asyncio.sleep(CHECK_INTERVAL)
            try:
                now = time.monotonic()
                self._stalled_at, self._checked_at = self.stalled_at, now
                if self._stalled_at >= now:
                    self._requests.excuse_silence()
                if self._client.is_connected and now - self._renewed_at >= self._spec.ack_wait / RENEWALS_PER_LEASE:
                    for message, _ in (*self._running.values(), *self._backlog):
                        self._send(message, b"+WPI")
                    self._renewed_at = now
                self._requests.drop_lost()
                if self._consumer_lost and self._client.is_connected:
                    await ensure_consumer(self._client, self._spec, deadline=2.0)
                    self._consumer_lost = False
                self._request()
            except NotReadyError as error:
                log.warning("pull.consumer_missing", consumer=self._spec.durable, error=str(error))
            except Exception:
                log.exception("pull.keeper_failed", consumer=self._spec.durable)


def _company_of(message: Msg) -> str:
    return message.subject.split(".", 2)[1]
