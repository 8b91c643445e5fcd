"""The durable pull consumer of CHAT, shared by all replicas: batches are acknowledged once they are stored.

The consumer's metadata names the database that it fills. For a new or different database the whole log is projected
again, and so is a log that was recreated. Projecting a fact twice is harmless.
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
STORE_KEY = "nexus-store"
"""The key of the consumer's metadata that names its database."""
MAX_ACK_PENDING = 5_000
LINGER_SECONDS = 1.0
"""How long a batch may fill, since several facts cost the database little more than one. A waiting reader ends the wait
in every replica, and so does any fact other than a visitor's message or an AI answer: people are waiting for it."""
BATCHED_KINDS = (ChatKind.VISITOR, ChatKind.ASSISTANT)
STORE_PAUSE_SECONDS = 0.5
"""Pause before the next batch while the database is unavailable."""
RETRY_SECONDS = 1.0
"""When facts that could not be stored are delivered again."""
MAX_DELIVERIES = 5
"""A fact that fails on its own while the database works becomes a dead letter after this many deliveries."""
STOP_TIMEOUT_SECONDS = 10.0
"""When it stops, how long it may still project what has arrived."""

_log = structlog.get_logger(__name__)

Project = Callable[[Sequence[LogFact]], Awaitable[None]]


class ChatConsumer(BatchWorker):
    """Passes batches to `project`. Stored facts for which `teaches` is true are acknowledged after `learn`, without
    delaying other batches."""

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
            ConsumerSpec(CHAT.name, DURABLE, (CHAT_ALL,), max_ack_pending=MAX_ACK_PENDING, metadata={STORE_KEY: store}),
            self._take,
            service=SERVICE,
            linger=LINGER_SECONDS,
            urgent=lambda message: not message.subject.endswith(BATCHED_KINDS),
        )
        # A subject below this user's inbox: no other user may subscribe or publish there.
        self._hurry_subject = f"{client.new_inbox().rpartition('.')[0]}.{DURABLE}.hurried"
        self._published_at = 0.0
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
            info = await js.consumer_info(CHAT.name, DURABLE)
            if (info.config.metadata or {}).get(STORE_KEY) != self._store:
                _log.info("the database is another one: the whole log is projected again")
                await js.delete_consumer(CHAT.name, DURABLE)
        except NotFoundError:
            pass
        except (NatsError, TimeoutError, RuntimeLibraryError) as error:
            raise NotReadyError(f"consumer {DURABLE}: {str(error) or type(error).__name__}") from error
        await super().ensure(deadline)

    async def start(self) -> None:
        await super().start()
        await listen(self._client, self._hurry_subject, self._on_hurry)

    async def stop(self) -> None:
        """Accepts nothing new; what has arrived is projected within STOP_TIMEOUT_SECONDS, or delivered again later."""
        await self.drain(STOP_TIMEOUT_SECONDS)

    def hurry(self) -> None:
        """Projects what has arrived without waiting for a fuller batch, here and in the other replicas. These get at
        most one message in each waiting period."""
        self._batches.hurry()
        if time.monotonic() - self._published_at >= HURRIED and isinstance(self._client, BusClient):
            self._published_at = time.monotonic()
            self._client.publish_now(self._hurry_subject)

    def calm(self) -> None:
        """Lets batches fill again, because no reader waits here any more."""
        self._batches.calm()

    def _on_hurry(self, message: Msg) -> None:
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
            await asyncio.sleep(STORE_PAUSE_SECONDS)
            return [Retry(RETRY_SECONDS)] * len(deliveries)
        except Exception as error:
            if len(deliveries) > 1 or deliveries[0].num_delivered < MAX_DELIVERIES:
                raise
            return [DeadLetter(f"{type(error).__name__}: {error}")]
        PROJECTED.inc(len(facts))
        return [self._outcome(fact) if isinstance(fact, LogFact) else DeadLetter(fact) for fact in decoded]

    def _outcome(self, fact: LogFact) -> Outcome | AckAfter:
        return AckAfter(lambda: self._learn(fact)) if self._teaches(fact) else Ack()

    def _decode(self, delivery: Delivery) -> LogFact | str:
        """The fact, or the reason why it is invalid."""
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
