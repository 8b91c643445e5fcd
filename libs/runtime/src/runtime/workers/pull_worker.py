"""Pull consumers for work that is long or must run side by side: turns and tool calls.

The server always has a request, so a message is delivered without a round trip. At rest the request is for one message
and lasts five minutes: that causes hardly any traffic, and a worker that stands still takes at most one message. When
messages follow each other closely, it asks for as many as there are free slots (at most 100), for two seconds.
Messages without a free slot wait in a backlog. An exception from a handler is never an acknowledgement. A delivery is a
lease: the server gives the message to another worker unless it hears "in progress" within `ack_wait`; one ticker
sends this for all messages that the worker holds.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from runtime.bus.connection import listen, post
from runtime.bus.consumers import ConsumerSpec, ensure_consumer, may_be_redelivered, on_new_leader
from runtime.bus.marks import Marks
from runtime.bus.replies import ReplyInbox, headers_of, status_of
from runtime.errors import NotReadyError
from runtime.observability import correlation
from runtime.observability.metrics import CONSUME_SECONDS, CONSUMED, IN_WORK
from runtime.observability.telemetry import remote_span
from runtime.recent import Recent
from runtime.workers.dead_letters import DeadLetters
from runtime.workers.deliveries import Delivery, delivery_of, pause_after
from runtime.workers.outcomes import Ack, AckThen, DeadLetter, Outcome, Retry

__all__ = ["Ack", "AckThen", "DeadLetter", "Delivery", "Outcome", "PullWorker", "Retry"]

log = structlog.get_logger(__name__)

LARGEST_REQUEST = 100
LEASE = 2.2
"""Seconds after which what a dead worker held goes to another: its lease was renewed up to half a second before."""
RENEWALS = 5  # in one lease, rounded up to whole ticks: three may be lost or late
EXPIRES = 2.0
"""Seconds that a request for many messages waits for them: less than a lease, so that a worker that stands still
(SIGSTOP) is given no message twice."""
HEARTBEAT, SILENCE = 1.0, 3.0
REST_EXPIRES, REST_HEARTBEAT = 300.0, 8.5
"""Seconds that the request for one message waits for it, and between two words of the server meanwhile."""
REST_SILENCE = 9.5
"""Seconds without a word after which a request is taken for lost. A server that is away shows on the connection, and a
new leader of the consumer says so: this is the net below both. One word that is late costs one request."""
CLOSE, BUSY = 0.1, 1.0
"""Seconds between two messages that make more of them likely; seconds for which the next requests are for many."""
TICK = 0.25
ACK_DEADLINE = 2.0
"""Seconds for the server to confirm an acknowledgement."""
LONGEST_WORK = 300.0
"""Seconds that a handler may take where nothing else is said; then it is broken off, and its message comes again."""
MOST_PAUSES, MOST_TOLD = 20_000, 10_000
"""The most messages that are remembered as handed back, and as reported."""
ENDED_WITHIN = 10.0
"""Seconds that a handler which was broken off, or one turn of the keeper, may take."""

Handler = Callable[[Delivery], Awaitable[Outcome | AckThen]]


class PullWorker:
    """Takes messages of one durable consumer and runs `handler` for up to `slots` of them at once.

    The handler returns Ack(), AckThen(then), Retry(delay) or DeadLetter(reason).
    When it raises, the message comes again after a growing pause (0.3 s to 30 s), for ever: whoever wants an end
    counts attempts of its own and returns DeadLetter.
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
        ack_wait: float = LEASE,
        service: str | None = None,
        longest: float = LONGEST_WORK,
    ) -> None:
        """`longest`: seconds after which a handler is broken off, well above what any healthy one takes."""
        self._client = client
        self._longest = longest
        self._spec = ConsumerSpec(
            stream=stream,
            durable=durable,
            subjects=tuple(subjects),
            ack_wait=ack_wait,
            max_ack_pending=50_000,
        )
        self._handler = handler
        self._slots = slots
        self._service = service or durable
        self._inbox = ReplyInbox.of(self._client)
        self._dead_letters = DeadLetters(self._client)
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._prefix = f"{self._client.new_inbox()}."
        self._subscription: Subscription | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._running: dict[asyncio.Task[None], tuple[Msg, float]] = {}
        self._backlog: deque[tuple[Msg, float]] = deque()  # what has no slot yet, and when it was read
        self._told = Recent[int, bool](MOST_TOLD)
        """Sequences of messages whose outcome has been reported (outcomes.AckThen)."""
        self._requests: dict[str, int] = {}
        self._next_request = 0
        self._silence = SILENCE
        self._came = 0.0
        self._busy_until = 0.0
        self._heard = 0.0
        self._deaf_since = 0.0
        self._reconnects = 0
        self._hold_until = 0.0
        self._draining = False
        self._consumer_lost = False
        self._ticked = self._renewed = time.monotonic()
        self._stood_still = 0.0
        self.handed_back: deque[float] = deque(maxlen=MOST_PAUSES)
        """The times, by time.monotonic(), at which messages that were handed back with a pause are due again, in the
        order of handing back. The reader (runtime.workers.backlog) removes those that are over."""

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
        """Whether the server has been heard lately; a worker whose slots are all busy asks for nothing."""
        return self._client.is_connected and not self._silent()

    @property
    def stood_still(self) -> float:
        """The last time, by time.monotonic(), at which no lease had been renewed for nearly as long as a lease lasts:
        the process had stood still, or the server was away. 0 if that never happened. Another worker may have what was
        held before."""
        now = time.monotonic()
        if now - self._renewed >= self._spec.ack_wait - TICK:
            self._stood_still = now
        return self._stood_still

    @property
    def name(self) -> str:
        return self._spec.durable

    def stuck_because(self) -> str | None:
        """See runtime.liveness: what only a new process can put right."""
        if self._keeper is None or self._draining:
            return None
        now = time.monotonic()
        if self._keeper.done() or now - self._ticked > ENDED_WITHIN:
            return "nobody keeps its leases and requests alive"
        if any(now - since > self._longest + ENDED_WITHIN for _, since in self._running.values()):
            return f"a handler was broken off after {self._longest:g} s and does not end"
        if self._deaf_since and now - self._deaf_since > ENDED_WITHIN:
            return "its requests are not answered on a connection that is up"
        return None

    async def start(self) -> None:
        """Makes or updates the consumer and starts taking messages.

        Raises:
            NotReadyError: the stream is missing, or the consumer is there in a form that cannot be changed.
        """
        await ensure_consumer(self._client, self._spec)
        self._reconnects = self._client.stats["reconnects"]
        self._subscription = await listen(self._client, self._prefix + "*", self._on_message)
        await on_new_leader(self._client, self._spec.stream, self._spec.durable, self._ask_anew)
        self._ticked = self._renewed = time.monotonic()
        self._keeper = asyncio.create_task(self._keep())
        self._ask()

    async def drain(self, deadline: float = 20.0) -> None:
        """Takes nothing new, gives back what has not started, lets what runs finish within `deadline` seconds, gives
        back the rest. The messages given back are delivered to others at once."""
        self._draining = True
        end = time.monotonic() + deadline
        if self._subscription is not None:
            # What is still on its way arrives before this returns, and is given back by _on_message.
            with suppress(NatsError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(min(2.0, deadline)):
                    await self._subscription.drain()
        while self._backlog:
            self._send(self._backlog.popleft()[0], b"-NAK")
        if self._running:
            await asyncio.wait(list(self._running), timeout=max(end - time.monotonic(), 0))
        late = list(self._running)
        for task in late:
            task.cancel()
        if late:
            await asyncio.wait(late, timeout=2)
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.wait([self._keeper])

    def _on_message(self, message: Msg) -> None:
        self._heard, self._deaf_since = time.monotonic(), 0.0
        status = status_of(message)
        if status is not None and not message.data:
            self._on_status(status, message)
            self._ask()
            return
        if self._heard - self._came < CLOSE:
            self._busy_until = self._heard + BUSY
        self._came = self._heard
        for key, left in self._requests.items():
            if left > 1:
                self._requests[key] = left - 1
            else:
                del self._requests[key]
            break
        if self._draining:
            self._send(message, b"-NAK")
        elif len(self._running) < self._slots:
            self._begin(message, self._heard)
            self._ask()
        else:
            self._backlog.append((message, self._heard))

    def _on_status(self, status: str, message: Msg) -> None:
        if status == "100":
            return
        self._requests.pop(message.subject[len(self._prefix) :], None)
        reason = headers_of(message).get("Description", "")
        if status == "408":  # the request has waited its time
            return
        if status in ("404", "503") or "Deleted" in reason:
            self._consumer_lost = True
        # A leader has changed, or the consumer has gone: the keeper asks again in a moment.
        self._hold_until = time.monotonic() + TICK
        log.info("pull.interrupted", consumer=self._spec.durable, status=status, reason=reason)

    def _begin(self, message: Msg, read: float) -> None:
        task = asyncio.create_task(self._work(message, read))
        self._running[task] = message, time.monotonic()
        task.add_done_callback(self._ended)
        IN_WORK.labels(self._spec.durable).set(len(self._running))

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._running.pop(task, None)
        IN_WORK.labels(self._spec.durable).set(len(self._running))
        if self._backlog and not self._draining:
            self._begin(*self._backlog.popleft())

    async def _work(self, message: Msg, read: float) -> None:
        delivery = delivery_of(message, Marks.of(self._client))
        with correlation.received(delivery.headers):
            await self._handle(message, delivery, read)

    async def _handle(self, message: Msg, delivery: Delivery, read: float) -> None:
        consumer = self._spec.durable
        started = time.perf_counter()
        outcome: Outcome | AckThen
        name = "error"
        try:
            with remote_span(f"{consumer} {self._spec.stream}", delivery.headers, root=True) as work:
                async with asyncio.timeout(self._longest):
                    reconnects = self._client.stats["reconnects"]
                    outcome = Ack() if self._told.get(delivery.seq) else await self._handler(delivery)
                    if isinstance(outcome, AckThen) and await self._given_up(message, delivery, read, reconnects):
                        await outcome.then()
                if isinstance(outcome, Retry):
                    # It comes again: that delivery, and the wait before it, are what a trace is about.
                    work.discard()
            name = outcome.label
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
        CONSUMED.labels(consumer, name).inc()
        log.debug("pull.handled", consumer=consumer, subject=delivery.subject, seq=delivery.seq, outcome=name)
        CONSUME_SECONDS.labels(consumer).observe(time.perf_counter() - started)
        if not isinstance(outcome, AckThen):
            await self._settle(message, delivery, outcome)
        # The slot is free as soon as this returns; ask at once instead of at the next tick.
        if (task := asyncio.current_task()) is not None:
            self._running.pop(task, None)
        self._ask()

    async def _given_up(self, message: Msg, delivery: Delivery, since: float, reconnects: int) -> bool:
        """Acknowledges a message; whether nobody handles it after that: it has been this worker's `since` it was read,
        on this one connection, the server says so in time, and no copy of it is in work. A later one is not handled."""
        first = delivery.num_delivered == 1
        try:
            if first and await may_be_redelivered(self._client, self._spec, delivery.stored_at):
                return False  # whoever has it settles it; if nobody does, it comes again
            await self._inbox.request(message.reply, b"+ACK", deadline=min(self._spec.ack_wait, ACK_DEADLINE))
        except (TimeoutError, NatsError, NotReadyError):
            log.warning("pull.ack_unconfirmed", consumer=self._spec.durable, seq=delivery.seq)
            return False
        others = (delivery_of(other).seq for other, _ in self._running.values() if other is not message)
        held = self.stood_still < since and self._client.stats["reconnects"] == reconnects
        if mine := held and delivery.seq not in others:
            self._told.keep(delivery.seq, True)
        return mine

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
            # Lost, it comes again when its lease has run out, and its handler sees that it is done.
            self._send(message, b"+ACK")

    def _send(self, message: Msg, word: bytes) -> None:
        post(self._client, message.reply, word)

    def _ask(self) -> None:
        """Asks for the next message; while they come close behind each other, for as many as there are free slots that
        nothing has been asked for yet."""
        now = time.monotonic()
        if self._draining or self._hold_until > now or not self._client.is_connected:
            return
        asked = sum(self._requests.values())
        busy = now < self._busy_until
        wanted = min(self._slots - len(self._running) - len(self._backlog) - asked, LARGEST_REQUEST if busy else 1)
        # Many small requests would cost a message each: ask again when a quarter of the slots can be asked for.
        if wanted <= 0 or (asked and (not busy or wanted < min(self._slots, LARGEST_REQUEST) // 4)):
            return
        # At rest by lot, so that not all are renewed at once.
        resting = REST_EXPIRES * random.uniform(0.7, 1.0), REST_HEARTBEAT
        expires, heartbeat = (EXPIRES, HEARTBEAT) if busy else resting
        self._silence = SILENCE if busy else REST_SILENCE
        self._next_request += 1
        key = str(self._next_request)
        if not self._requests:
            self._heard = now
        self._requests[key] = wanted
        body = b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}' % (wanted, expires * 1e9, heartbeat * 1e9)
        post(self._client, self._subject, body, self._prefix + key)

    def _silent(self) -> bool:
        return bool(self._requests) and time.monotonic() - self._heard > self._silence

    async def _ask_anew(self) -> None:
        """The consumer has another leader, which knows of no request."""
        self._requests.clear()
        self._ask()

    async def _keep(self) -> None:
        """Renews the leases of messages in work, and the requests at the server; no error ends it."""
        while True:
            await asyncio.sleep(TICK)
            try:
                now = time.monotonic()
                self._stood_still, self._ticked = self.stood_still, now
                if self._stood_still >= now:
                    # What was said meanwhile is still to be read. Asked anew, the server would hold two requests.
                    self._heard = now
                if self._client.is_connected and now - self._renewed >= self._spec.ack_wait / RENEWALS:
                    for message, _ in (*self._running.values(), *self._backlog):
                        self._send(message, b"+WPI")
                    self._renewed = now
                reconnects = self._client.stats["reconnects"]
                silent = self._silent()
                if reconnects != self._reconnects or silent:
                    self._deaf_since = self._deaf_since or (now if silent else 0.0)
                    self._reconnects = reconnects
                    self._requests.clear()
                if self._consumer_lost and self._client.is_connected:
                    await ensure_consumer(self._client, self._spec, deadline=2.0)
                    self._consumer_lost = False
                self._ask()
            except NotReadyError as error:
                log.warning("pull.consumer_missing", consumer=self._spec.durable, error=str(error))
            except Exception:
                log.exception("pull.keeper_failed", consumer=self._spec.durable)
