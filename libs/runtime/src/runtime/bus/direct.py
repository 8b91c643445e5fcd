"""Direct reads of a stream (NATS ADR-31) by subject or sequence, also several at once; 0.1 to 0.2 ms each.

Any replica may answer, so an answer can be older than what the reader has seen: a reader that needs a minimum sequence
reads again.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from operator import attrgetter

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError

from runtime.bus.marks import Marks
from runtime.bus.replies import ReplyInbox, headers_of, status_of
from runtime.errors import ReadFailedError

DEADLINE = 5.0
"""Default deadline of a read, in seconds."""
ATTEMPT_TIMEOUT = 1.0
"""Seconds to wait for one answer; then the request is repeated, within the caller's deadline."""
BATCH_SIZE = 256
"""Messages of one batch."""


@dataclass(frozen=True, slots=True)
class StoredFact:
    """One stored message: `event` is its body, `stamp` the time of storing (RFC 3339, nanoseconds). Not `genuine`: it
    lacks the mark that its position demands (runtime.bus.marks), so it does not count as a fact."""

    seq: int
    subject: str
    event: bytes
    stamp: str
    genuine: bool = True

    @property
    def time(self) -> datetime:
        """When the stream stored the message: aware, in UTC, with microseconds."""
        return datetime.fromisoformat(self.stamp)


@dataclass(frozen=True, slots=True)
class Batch:
    """The result of a batch read. `more`: the stream holds further matches after the last one. `reached`: the last
    sequence of the whole stream at the replica that answered a read of the newest messages; 0 if it did not say."""

    facts: list[StoredFact]
    more: bool
    reached: int = 0


class DirectReader:
    """Direct reads of one stream, which must have `allow_direct`."""

    def __init__(self, client: Client, stream: str) -> None:
        self.stream = stream
        self._client = client
        self._inbox = ReplyInbox.of(client)
        self._marks = Marks.of(client)
        self._subject = f"$JS.API.DIRECT.GET.{stream}"

    async def last(self, subject: str, *, deadline: float = DEADLINE) -> StoredFact | None:
        """Returns the newest message of exactly this subject, or None."""
        return await self._one(f"{self._subject}.{subject}", b"", deadline)

    async def at(self, seq: int) -> StoredFact | None:
        """Returns the message at this sequence; None if it is gone or does not exist yet."""
        return await self._one(self._subject, orjson.dumps({"seq": seq}), DEADLINE)

    async def next(self, filter_subject: str, seq: int, *, deadline: float = DEADLINE) -> StoredFact | None:
        """Returns the first message that matches the filter at or after `seq` (from 1), or None."""
        body = orjson.dumps({"seq": max(seq, 1), "next_by_subj": filter_subject})
        return await self._one(self._subject, body, deadline)

    async def last_of_each(
        self, filters: Sequence[str], *, reached: int = 0, deadline: float = DEADLINE
    ) -> list[StoredFact]:
        """Returns the newest message of every matching subject, from one consistent view, ordered by sequence. If the
        answering replica's stream has not reached the sequence `reached`, the read is repeated."""
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        while True:
            batch = await self._many({"multi_last": list(filters)}, max(end - clock(), 0.001))
            if not 0 < batch.reached < reached:
                return sorted(batch.facts, key=attrgetter("seq"))
            await self._again(end, TimeoutError(f"a replica has reached {batch.reached}, and {reached} is needed"))

    async def batch(self, filter_subject: str, seq: int, size: int, *, deadline: float = DEADLINE) -> Batch:
        """Returns up to `size` messages that match the filter from `seq` on, in order.

        The server scans the stream: far before its end this is slow and slows everybody down (12 ms at 200,000 before
        the end).
        """
        return await self._many({"seq": max(seq, 1), "next_by_subj": filter_subject, "batch": size}, deadline)

    async def all(
        self,
        filter_subject: str,
        seq: int = 1,
        *,
        size: int = BATCH_SIZE,
        deadline: Callable[[], float] = lambda: DEADLINE,
    ) -> AsyncGenerator[StoredFact]:
        """Yields the messages that match the filter from `seq` on, in order; they are read in batches of `size`, each
        within the `deadline` of that moment."""
        while True:
            batch = await self.batch(filter_subject, seq, size, deadline=deadline())
            for fact in batch.facts:
                yield fact
            if not batch.more or not batch.facts:
                return
            seq = batch.facts[-1].seq + 1

    async def batch_since(self, filter_subject: str, since: datetime, size: int) -> Batch:
        """Returns up to `size` messages that match the filter and were stored at `since` or later, in order."""
        query = {"start_time": since.astimezone(UTC).isoformat().replace("+00:00", "Z")}
        return await self._many({**query, "next_by_subj": filter_subject, "batch": size}, DEADLINE)

    async def _one(self, subject: str, body: bytes, deadline: float) -> StoredFact | None:
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        while True:
            try:
                message = await self._inbox.request(
                    subject, body, deadline=min(ATTEMPT_TIMEOUT, max(end - clock(), 0.001))
                )
            except (TimeoutError, NatsError) as error:
                await self._again(end, error)
                continue
            status = status_of(message)
            if status is None:
                return self._fact(message)
            if status == "404":
                return None
            raise ReadFailedError(
                f"direct read of {self.stream} refused: {status} {headers_of(message).get('Description')}"
            )

    async def _many(self, query: dict[str, object], deadline: float) -> Batch:
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        body = orjson.dumps(query)
        while True:
            try:
                messages = await self._inbox.request_many(
                    self._subject, body, deadline=min(ATTEMPT_TIMEOUT, max(end - clock(), 0.001))
                )
            except (TimeoutError, NatsError) as error:
                await self._again(end, error)
                continue
            last = messages.pop()
            status = status_of(last)
            if status == "503":
                await self._again(end, NoRespondersError())
                continue
            if status == "404":
                return Batch([], more=False)
            if status != "204":
                raise ReadFailedError(
                    f"direct read of {self.stream} refused: {status} {headers_of(last).get('Description')}"
                )
            facts = [self._fact(message) for message in messages]
            headers = headers_of(last)
            more = int(headers.get("Nats-Num-Pending", "0")) > 0
            return Batch(facts, more, int(headers.get("Nats-UpTo-Sequence", "0")))

    def _fact(self, message: Msg) -> StoredFact:
        headers = headers_of(message)
        seq, subject = int(headers["Nats-Sequence"]), headers["Nats-Subject"]
        genuine = self._marks.genuine(self.stream, subject, seq, headers, message.data)
        return StoredFact(seq, subject, message.data, headers["Nats-Time-Stamp"], genuine)

    async def _again(self, end: float, error: Exception) -> None:
        remaining = end - asyncio.get_running_loop().time()
        if remaining <= 0 or self._client.is_closed:
            raise ReadFailedError(
                f"no answer to a direct read of {self.stream}: is the stream there, the server up?"
            ) from error
        await asyncio.sleep(min(0.05, remaining))
