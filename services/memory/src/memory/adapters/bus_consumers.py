"""The progress of consumers, and what their streams hold (Consumers)."""

import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from nats.aio.client import Client
from nats.errors import Error as NatsError

from memory.adapters.chat_log import era_of
from memory.adapters.durables import durables
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress
from memory.errors import BusUnavailableError
from runtime.bus.direct import DirectReader, StoredFact
from runtime.bus.jetstream_api import AnswerT, ApiAnswer, ConsumerInfo, ConsumerPage, StreamInfo, ask, floor_of
from runtime.bus.replies import ReplyInbox
from runtime.bus.streams import continue_after_lost_end, counting_since, note_lost_end
from runtime.errors import NotReadyError

ANSWER = 2.0


class BusConsumers:
    """Asks JetStream."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._readers: dict[str, DirectReader] = {}
        self._streams: dict[str, _Looked] = {}

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        looked = await self._look(stream, since)
        info, consumer = looked.stream, looked.consumers.get(durable)
        if consumer is None:
            return None
        era = era_of(counting_since(info))
        held = info["state"]
        return ConsumerProgress(
            LogPosition(era, floor_of(consumer)),
            LogPosition(era, _furthest(consumer)),
            LogPosition(era, consumer["delivered"]["stream_seq"]),
            held["first_seq"],
            held["last_seq"],
            served=bool(consumer.get("num_waiting")),
        )

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        batch = await self._reader(stream).batch(subject, after + 1, size)
        return batch.facts, batch.more

    async def delete(self, stream: str, durable: str) -> None:
        await self._ask(ApiAnswer, f"CONSUMER.DELETE.{stream}.{durable}")

    async def since(self, stream: str, subject: str, at: datetime) -> int:
        found = await self._reader(stream).batch_since(subject, at, 1)
        return found.facts[0].seq if found.facts else 0

    async def _look(self, stream: str, since: float) -> "_Looked":
        known = self._streams.get(stream)
        if known is None or known.at < since:
            at = time.monotonic()
            info = await self._ask(StreamInfo, f"STREAM.INFO.{stream}")
            consumers = {} if "error" in info else await durables(partial(self._ask, ConsumerPage), stream)
            known = self._streams[stream] = _Looked(at, info, consumers)
        return known

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        try:
            await continue_after_lost_end(self._client, stream, up_to, keep)
        except NotReadyError as error:
            raise BusUnavailableError(str(error)) from error

    async def note_lost_end(self, stream: str, up_to: int) -> None:
        try:
            await note_lost_end(self._client, stream, up_to)
        except NotReadyError as error:
            raise BusUnavailableError(str(error)) from error

    def _reader(self, stream: str) -> DirectReader:
        return self._readers.setdefault(stream, DirectReader(self._client, stream))

    async def _ask(self, of: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
        try:
            return await ask(self._inbox, of, method, body, deadline=ANSWER)
        except (TimeoutError, NatsError) as error:
            raise BusUnavailableError(f"JetStream does not answer {method}") from error


@dataclass(frozen=True, slots=True)
class _Looked:
    """`stream` is the reply to STREAM.INFO, requested at `at` and before its consumers; an error if there is no
    stream."""

    at: float
    stream: StreamInfo
    consumers: dict[str, ConsumerInfo]


def _furthest(consumer: ConsumerInfo) -> int:
    """The highest sequence that may have been acknowledged. Above the floor there is none while everything delivered
    is pending."""
    delivered, floor = consumer["delivered"], consumer["ack_floor"]
    waiting = delivered["consumer_seq"] - floor["consumer_seq"] == consumer.get("num_ack_pending", 0)
    return floor_of(consumer) if waiting else delivered["stream_seq"]
