"""How far consumers are, and what their streams hold (Consumers)."""

import time
from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any

import orjson
from nats.aio.client import Client
from nats.errors import Error as NatsError

from memory.adapters.chat_log import era_of
from memory.adapters.projection_floor import floor_of
from memory.domain.keys import LogPosition
from memory.domain.progress import ConsumerProgress
from memory.errors import BusUnavailable
from runtime.direct import DirectReader, StoredFact
from runtime.errors import NotReady
from runtime.replies import ReplyInbox
from runtime.streams import first_made, leave_out

ANSWER = 2.0
SAME = 1.0
"""Seconds for which a stream is the same to those who look at several of its consumers, one after the other."""


class BusConsumers:
    """Asks JetStream."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._readers: dict[str, DirectReader] = {}
        self._streams: dict[str, tuple[float, dict[str, Any]]] = {}

    async def progress(self, stream: str, durable: str) -> ConsumerProgress | None:
        info = await self._stream(stream)
        consumer = await self._ask(f"$JS.API.CONSUMER.INFO.{stream}.{durable}")
        if "error" in info or "error" in consumer:
            return None
        era = era_of(first_made(info))
        held = info["state"]
        done, served = LogPosition(era, floor_of(consumer)), bool(consumer.get("num_waiting"))
        return ConsumerProgress(done, int(held["first_seq"]), int(held["last_seq"]), served)

    async def read(self, stream: str, subject: str, after: int, size: int) -> tuple[list[StoredFact], bool]:
        batch = await self._reader(stream).batch(subject, after + 1, size)
        return batch.facts, batch.more

    async def delete(self, stream: str, durable: str) -> None:
        await self._ask(f"$JS.API.CONSUMER.DELETE.{stream}.{durable}")

    async def since(self, stream: str, subject: str, at: datetime) -> int:
        found = await self._reader(stream).batch_since(subject, at, 1)
        return found.facts[0].seq if found.facts else 0

    async def _stream(self, stream: str) -> dict[str, Any]:
        asked, info = self._streams.get(stream, (float("-inf"), {}))
        if time.monotonic() - asked > SAME:
            info = await self._ask(f"$JS.API.STREAM.INFO.{stream}")
            self._streams[stream] = time.monotonic(), info
        return info

    async def leave_out(self, stream: str, up_to: int, keep: Callable[[int], Awaitable[object]]) -> None:
        try:
            await leave_out(self._client, stream, up_to, keep)
        except NotReady as error:
            raise BusUnavailable(str(error)) from error

    def _reader(self, stream: str) -> DirectReader:
        return self._readers.setdefault(stream, DirectReader(self._client, stream))

    async def _ask(self, subject: str) -> dict[str, Any]:
        try:
            return orjson.loads((await self._inbox.request(subject, b"", deadline=ANSWER)).data)
        except (TimeoutError, NatsError) as error:
            raise BusUnavailable(f"JetStream does not answer {subject}") from error
