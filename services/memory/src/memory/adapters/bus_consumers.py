"""Reads and manages consumers and their streams over JetStream's API (Consumers)."""

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

REPLY_TIMEOUT_SECONDS = 2.0
"""Deadline of one request to JetStream's API."""


class BusConsumers:
    """Consumers on JetStream; the methods are described in Consumers."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._readers: dict[str, DirectReader] = {}
        self._streams: dict[str, _StreamReply] = {}

    async def progress(self, stream: str, durable: str, since: float) -> ConsumerProgress | None:
        reply = await self._query(stream, since)
        info, consumer = reply.stream, reply.consumers.get(durable)
        if consumer is None:
            return None
        era = era_of(counting_since(info))
        stream_state = info["state"]
        return ConsumerProgress(
            LogPosition(era, floor_of(consumer)),
            LogPosition(era, _furthest(consumer)),
            LogPosition(era, consumer["delivered"]["stream_seq"]),
            stream_state["first_seq"],
            stream_state["last_seq"],
            served=bool(consumer.get("num_waiting")),
        )

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        batch = await self._reader(stream).batch(subject, after + 1, size)
        return batch.facts, batch.more

    async def delete(self, stream: str, durable: str) -> None:
        await self._ask(ApiAnswer, f"CONSUMER.DELETE.{stream}.{durable}")

    async def since(self, stream: str, subject: str, start: datetime) -> int:
        batch = await self._reader(stream).batch_since(subject, start, 1)
        return batch.facts[0].seq if batch.facts else 0

    async def _query(self, stream: str, since: float) -> "_StreamReply":
        cached = self._streams.get(stream)
        if cached is None or cached.at < since:
            requested_at = time.monotonic()
            info = await self._ask(StreamInfo, f"STREAM.INFO.{stream}")
            consumers = {} if "error" in info else await durables(partial(self._ask, ConsumerPage), stream)
            cached = self._streams[stream] = _StreamReply(requested_at, info, consumers)
        return cached

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

    async def _ask(self, reply_type: type[AnswerT], method: str, body: Mapping[str, object] | None = None) -> AnswerT:
        try:
            return await ask(self._inbox, reply_type, method, body, deadline=REPLY_TIMEOUT_SECONDS)
        except (TimeoutError, NatsError) as error:
            raise BusUnavailableError(f"JetStream does not answer {method}") from error


@dataclass(frozen=True, slots=True)
class _StreamReply:
    """A stream's information, requested at `at` and before that of its consumers. `stream` is the reply to STREAM.INFO:
    an error if there is no stream."""

    at: float
    stream: StreamInfo
    consumers: dict[str, ConsumerInfo]


def _furthest(consumer: ConsumerInfo) -> int:
    """The highest sequence that may have been acknowledged: the floor if everything delivered after it is pending."""
    delivered, floor = consumer["delivered"], consumer["ack_floor"]
    is_all_pending = delivered["consumer_seq"] - floor["consumer_seq"] == consumer.get("num_ack_pending", 0)
    return floor_of(consumer) if is_all_pending else delivered["stream_seq"]
