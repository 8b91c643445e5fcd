"""The durable pull consumer of CHAT, shared by all replicas: batches are acknowledged once they are stored.

The consumer's metadata names the database that it fills. A new or different database gets the whole log again, and so
does a log that was recreated. Projecting a fact twice is harmless.
"""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Sequence

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy
from nats.js.errors import NotFoundError

from contracts.channels import CHAT_ALL, ChatKind, parse_chat
from contracts.streams import CHAT
from memory.adapters.chat_log import StreamLog
from memory.domain.facts import BadFactError, LogFact
from memory.errors import StoreUnavailable
from memory.metrics import PROJECTED
from runtime import correlation
from runtime.batches import HURRIED, PullBatches
from runtime.bus_client import BusClient
from runtime.connection import jetstream, listen
from runtime.dead_letters import DeadLetters
from runtime.errors import PublishFailed, RuntimeFault
from runtime.marks import UNMARKED, Marks
from runtime.replies import headers_of
from runtime.telemetry import caller, record

SERVICE = "memory"
DURABLE = "memory-projection"
BATCH = 256
ACK_WAIT = 30.0
"""Seconds after which a dead replica's messages go to another."""
MAX_ACK_PENDING = 5_000
WAIT = 15.0
"""Seconds of one pull request; short enough to notice a lost request or the end."""
LINGER = 1.0
"""Seconds to let a batch fill: several facts cost the database little more than one. A waiting reader ends it, in
every replica, and so does any fact other than a visitor's message or an AI answer, since people are about to look."""
GATHERED = (ChatKind.VISITOR, ChatKind.ASSISTANT)
PAUSE = 0.5
"""Seconds before the next batch after a failure."""
RETRY = 1.0
LESSONS = 50
"""Facts that are learned from concurrently."""
LONGEST_BATCH = 60.0
"""Seconds for storing one batch; after that it is abandoned and delivered again, so that it does not hold up later
ones."""
ENDED_WITHIN = 10.0
"""Seconds for an abandoned batch to end."""
GIVE_UP_AFTER = 5
"""Deliveries of a fact that fails alone while the database works; then it becomes a dead letter."""

_log = structlog.get_logger(__name__)

Project = Callable[[Sequence[LogFact]], Awaitable[None]]


def consumer_config(store: str) -> ConsumerConfig:
    """The consumer that fills the database `store`. Deliveries are unlimited: storing is retried until it works, and
    a fact that can never be stored becomes a dead letter at once."""
    return ConsumerConfig(
        durable_name=DURABLE,
        filter_subject=CHAT_ALL,
        deliver_policy=DeliverPolicy.ALL,
        ack_policy=AckPolicy.EXPLICIT,
        ack_wait=ACK_WAIT,
        max_deliver=-1,
        max_ack_pending=MAX_ACK_PENDING,
        metadata={"nexus-store": store},
    )


class ChatConsumer:
    """Passes batches to `project`. Stored facts that have something to teach (`teaches`) are acknowledged once that
    is learned, without delaying other batches."""

    def __init__(
        self,
        client: Client,
        log: StreamLog,
        store: str,
        project: Project,
        dead_letters: DeadLetters,
        *,
        teaches: Callable[[LogFact], bool],
        learn: Callable[[LogFact], Awaitable[object]],
    ) -> None:
        self._client = client
        self._js = jetstream(client)
        # Beside the replies to this user: no other user may listen or write there.
        self._hurried = f"{client.new_inbox().rpartition('.')[0]}.{DURABLE}.hurried"
        self._told = 0.0
        self._batches = PullBatches(
            client, CHAT.name, DURABLE, BATCH, lambda message: not message.subject.endswith(GATHERED)
        )
        self._marks = Marks.of(client)
        self._log = log
        self._store = store
        self._project = project
        self._teaches = teaches
        self._learn = learn
        self._learning: set[asyncio.Task[None]] = set()
        self._free = asyncio.Semaphore(LESSONS)
        self._dead_letters = dead_letters
        self._task: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self._turned = 0.0
        self.acknowledged: Callable[[], None] | None = None
        """Called when a batch is stored and acknowledged."""

    async def ensure(self) -> None:
        """Creates the consumer, or reuses it if it fills this database; raises nats.errors.Error."""
        await self._log.refresh()
        try:
            found = await self._js.consumer_info(CHAT.name, DURABLE)
            if (found.config.metadata or {}).get("nexus-store") != self._store:
                _log.info("the database is another one: the whole log is projected again")
                await self._js.delete_consumer(CHAT.name, DURABLE)
        except NotFoundError:
            pass
        await self._js.add_consumer(CHAT.name, consumer_config(self._store))  # pyright: ignore[reportUnknownMemberType]

    async def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name="projection")

    async def stop(self, deadline: float = 10.0) -> None:
        """Accepts nothing new; what has arrived is projected within `deadline` seconds, or delivered again later."""
        self._stopping.set()
        self._batches.wake()
        if self._task is None:
            return
        end = time.monotonic() + deadline
        await asyncio.wait({self._task}, timeout=deadline)
        self._task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._task
        if self._learning:
            _, late = await asyncio.wait(self._learning, timeout=max(end - time.monotonic(), 0))
            for task in late:
                task.cancel()

    def hurry(self) -> None:
        """Projects what has arrived without waiting for a fuller batch, here and in the other replicas, which are
        told once in each waiting period."""
        self._batches.hurry()
        if time.monotonic() - self._told >= HURRIED and isinstance(self._client, BusClient):
            self._told = time.monotonic()
            self._client.say(self._hurried)

    def calm(self) -> None:
        """No reader waits here any more."""
        self._batches.calm()

    def _hurry_here(self, message: Msg) -> None:
        del message
        self._batches.hurry()

    async def check(self) -> None:
        """Raises if the projection has ended without being stopped."""
        if self._task is not None and self._task.done() and not self._stopping.is_set():
            raise RuntimeError("the projection has ended: restart this replica")

    def stuck_because(self) -> str | None:
        """See runtime.liveness: problems that only a restart can solve."""
        if self._task is None or self._stopping.is_set():
            return None
        if self._task.done():
            return "the projection has ended"
        if self._turned and time.monotonic() - self._turned > LONGEST_BATCH + ENDED_WITHIN:
            return f"a batch was left after {LONGEST_BATCH:g} s and does not end"
        if self._batches.deaf:
            return "its requests are not answered on a connection that is up"
        return None

    async def _run(self) -> None:
        await self._batches.open()
        await listen(self._client, self._hurried, self._hurry_here)
        while not self._stopping.is_set():
            self._turned = time.monotonic()
            try:
                messages = await self._batches.next(WAIT, LINGER)
                if messages:
                    await self._handle(messages)
            except NatsError as error:
                _log.warning("the projection's consumer is away", error=str(error) or error.__class__.__name__)
                await self._pause(PAUSE)
                await self._ensure_again()
            except Exception:
                # What was taken is delivered again; the one thing that must not happen is that this ends.
                _log.exception("a batch was left")
                await self._pause(PAUSE)
        await self._handle(await self._batches.close())

    async def _ensure_again(self) -> None:
        try:
            await self.ensure()
        except (NatsError, TimeoutError, RuntimeFault) as error:
            _log.warning("the projection's consumer cannot be had yet", error=str(error) or error.__class__.__name__)

    async def _handle(self, messages: list[Msg]) -> None:
        facts: list[tuple[Msg, LogFact]] = []
        for message in messages:
            fact = self._decode(message)
            if isinstance(fact, LogFact):
                facts.append((message, fact))
            else:
                with correlation.received(headers_of(message)):
                    await self._give_up(message, fact)
        if not facts:
            return
        began = time.time_ns()
        try:
            async with asyncio.timeout(LONGEST_BATCH):
                await self._project([fact for _, fact in facts])
        except (StoreUnavailable, TimeoutError) as error:
            _log.warning("nothing is projected for now", error=str(error) or "too slow", waiting=len(facts))
            await self._later([message for message, _ in facts])
            await self._pause(PAUSE)
        except Exception:
            _log.exception("a batch could not be projected: one by one")
            for message, fact in facts:
                with correlation.received(headers_of(message)):
                    await self._alone(message, fact)
        else:
            ended = time.time_ns()
            for message, fact in facts:
                with correlation.received(headers_of(message)):
                    _log.debug("projected", subject=message.subject, seq=fact.seq)
                    record("project CHAT", began, ended, under=caller(headers_of(message)), facts=len(facts))
                    await self._done(message, fact)
            PROJECTED.inc(len(facts))
            if self.acknowledged is not None:
                self.acknowledged()

    async def _alone(self, message: Msg, fact: LogFact) -> None:
        self._turned = time.monotonic()
        try:
            async with asyncio.timeout(LONGEST_BATCH):
                await self._project([fact])
        except (StoreUnavailable, TimeoutError):
            await self._later([message])
        except Exception as error:
            _log.exception("a fact could not be projected", seq=fact.seq)
            if (message.metadata.num_delivered or 1) >= GIVE_UP_AFTER:
                await self._give_up(message, f"{error.__class__.__name__}: {error}")
            else:
                await self._later([message])
        else:
            await self._done(message, fact)

    async def _done(self, message: Msg, fact: LogFact) -> None:
        """The fact is stored; one with a lesson is acknowledged once that is learned, or saved for later."""
        if not self._teaches(fact):
            await message.ack()
            return
        task = asyncio.create_task(self._learned(message, fact))
        self._learning.add(task)
        task.add_done_callback(self._learning.discard)

    async def _learned(self, message: Msg, fact: LogFact) -> None:
        try:
            async with self._free:
                await self._learn(fact)
        except Exception as error:
            _log.warning("nothing is learned for now", seq=fact.seq, error=repr(error)[:200])
            await self._later([message])
        else:
            await message.ack()

    def _decode(self, message: Msg) -> LogFact | str:
        """The fact, or why it is invalid."""
        address = parse_chat(message.subject)
        if address is None:
            return f"{message.subject} is no subject of a conversation's facts"
        metadata = message.metadata
        seq = metadata.sequence.stream
        if not self._marks.genuine(CHAT.name, message.subject, seq, headers_of(message), message.data):
            return f"at {seq}: {UNMARKED}"
        try:
            return self._log.decoded(address, seq, metadata.timestamp, message.data)
        except BadFactError as error:
            return str(error)

    async def _give_up(self, message: Msg, reason: str) -> None:
        metadata = message.metadata
        try:
            await self._dead_letters.put(
                service=SERVICE,
                stream=CHAT.name,
                subject=message.subject,
                body=message.data,
                reason=reason,
                headers=message.headers,
                origin_seq=metadata.sequence.stream,
                deliveries=metadata.num_delivered or 1,
            )
        except PublishFailed as error:
            _log.warning("a dead letter is not kept yet", seq=metadata.sequence.stream, error=str(error))
            await self._later([message])
        else:
            await message.ack()

    async def _later(self, messages: list[Msg]) -> None:
        for message in messages:
            await message.nak(delay=RETRY)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()
