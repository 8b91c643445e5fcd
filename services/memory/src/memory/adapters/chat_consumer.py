"""The durable pull consumer of CHAT, shared by all replicas: batches are acknowledged once they are stored.

The consumer's metadata names the database that it fills. A new or different database gets the whole log again, and so
does a log that was recreated. Projecting a fact twice is harmless.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime

import structlog
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.js.errors import NotFoundError

from contracts.channels import CHAT_ALL, ChatKind, parse_chat
from contracts.streams import CHAT
from memory.adapters.chat_log import StreamLog
from memory.domain.facts import BadFactError, LogFact
from memory.errors import StoreUnavailableError
from memory.metrics import PROJECTED
from runtime.bus.bus_client import BusClient
from runtime.bus.connection import jetstream, listen
from runtime.bus.consumers import ConsumerSpec
from runtime.bus.marks import UNMARKED
from runtime.errors import NotReadyError, RuntimeLibraryError
from runtime.workers.batch_worker import BatchWorker
from runtime.workers.batches import HURRIED
from runtime.workers.deliveries import Delivery
from runtime.workers.outcomes import Ack, AckAfter, DeadLetter, Outcome, Retry

SERVICE = "memory"
DURABLE = "memory-projection"
STORE = "nexus-store"
"""The key of the consumer's metadata that names its database."""
MAX_ACK_PENDING = 5_000
LINGER = 1.0
"""Seconds to let a batch fill: several facts cost the database little more than one. A waiting reader ends it, in
every replica, and so does any fact other than a visitor's message or an AI answer, since people are about to look."""
GATHERED = (ChatKind.VISITOR, ChatKind.ASSISTANT)
PAUSE = 0.5
"""Seconds before the next batch while the database is away."""
RETRY = 1.0
GIVE_UP_AFTER = 5
"""Deliveries of a fact that fails alone while the database works; then it becomes a dead letter."""
STOP = 10.0
"""Seconds for what has arrived, when it stops."""

_log = structlog.get_logger(__name__)

Project = Callable[[Sequence[LogFact]], Awaitable[None]]


class ChatConsumer(BatchWorker):
    """Passes batches to `project`. Stored facts that have something to teach (`teaches`) are acknowledged once that
    is learned, without delaying other batches."""

    def __init__(
        self,
        client: Client,
        log: StreamLog,
        store: str,
        project: Project,
        *,
        teaches: Callable[[LogFact], bool],
        learn: Callable[[LogFact], Awaitable[object]],
    ) -> None:
        super().__init__(
            client,
            ConsumerSpec(CHAT.name, DURABLE, (CHAT_ALL,), max_ack_pending=MAX_ACK_PENDING, metadata={STORE: store}),
            self._take,
            service=SERVICE,
            linger=LINGER,
            urgent=lambda message: not message.subject.endswith(GATHERED),
        )
        # Beside the replies to this user: no other user may listen or write there.
        self._hurried = f"{client.new_inbox().rpartition('.')[0]}.{DURABLE}.hurried"
        self._told = 0.0
        self._log = log
        self._store = store
        self._project = project
        self._teaches = teaches
        self._learn = learn

    @property
    def name(self) -> str:
        """The name under which health reports it."""
        return "projection"

    async def ensure(self, deadline: float = 15.0) -> None:
        """Creates the consumer, or reuses it if it fills this database; raises NotReadyError."""
        js = jetstream(self._client)
        try:
            await self._log.refresh()
            found = await js.consumer_info(CHAT.name, DURABLE)
            if (found.config.metadata or {}).get(STORE) != self._store:
                _log.info("the database is another one: the whole log is projected again")
                await js.delete_consumer(CHAT.name, DURABLE)
        except NotFoundError:
            pass
        except (NatsError, TimeoutError, RuntimeLibraryError) as error:
            raise NotReadyError(f"consumer {DURABLE}: {str(error) or type(error).__name__}") from error
        await super().ensure(deadline)

    async def start(self) -> None:
        await super().start()
        await listen(self._client, self._hurried, self._hurry_here)

    async def stop(self) -> None:
        """Accepts nothing new; what has arrived is projected within STOP seconds, or delivered again later."""
        await self.drain(STOP)

    def hurry(self) -> None:
        """Projects what has arrived without waiting for a fuller batch, here and in the other replicas, which are
        told once in each waiting period."""
        self._batches.hurry()
        if time.monotonic() - self._told >= HURRIED and isinstance(self._client, BusClient):
            self._told = time.monotonic()
            self._client.publish_now(self._hurried)

    def calm(self) -> None:
        """Goes back to fuller batches, because no reader waits here any more."""
        self._batches.calm()

    def _hurry_here(self, message: Msg) -> None:
        del message
        self._batches.hurry()

    async def check(self) -> None:
        """Raises if the projection has ended without being stopped."""
        if self._task is not None and self._task.done() and not self._stopping:
            raise RuntimeError("the projection has ended: restart this replica")

    async def _take(self, deliveries: Sequence[Delivery]) -> Sequence[Outcome | AckAfter]:
        decoded = [self._decode(delivery) for delivery in deliveries]
        facts = [fact for fact in decoded if isinstance(fact, LogFact)]
        try:
            if facts:
                await self._project(facts)
        except (StoreUnavailableError, TimeoutError) as error:
            _log.warning("nothing is projected for now", error=str(error) or "too slow", waiting=len(facts))
            await asyncio.sleep(PAUSE)
            return [Retry(RETRY)] * len(deliveries)
        except Exception as error:
            if len(deliveries) > 1 or deliveries[0].num_delivered < GIVE_UP_AFTER:
                raise
            return [DeadLetter(f"{type(error).__name__}: {error}")]
        PROJECTED.inc(len(facts))
        return [self._stored(fact) if isinstance(fact, LogFact) else DeadLetter(fact) for fact in decoded]

    def _stored(self, fact: LogFact) -> Outcome | AckAfter:
        return AckAfter(lambda: self._learn(fact)) if self._teaches(fact) else Ack()

    def _decode(self, delivery: Delivery) -> LogFact | str:
        """The fact, or why it is invalid."""
        address = parse_chat(delivery.subject)
        if address is None:
            return f"{delivery.subject} is no subject of a conversation's facts"
        if not delivery.genuine:
            return f"at {delivery.seq}: {UNMARKED}"
        try:
            stored_at = datetime.fromtimestamp(delivery.stored_at, UTC)
            return self._log.decoded(address, delivery.seq, stored_at, delivery.data)
        except BadFactError as error:
            return str(error)
