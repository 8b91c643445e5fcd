"""Appends to streams so that nothing is lost or doubled.

Every append carries a Nats-Msg-Id and names its stream, and is retried under the same id and the same reply subject
until it is acknowledged or the deadline has passed: a late acknowledgement of an earlier attempt counts.
"""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NotRequired

import orjson
from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import MaxPayloadError

from contracts.envelope import CloudEvent
from contracts.ids import uuid7
from runtime.bus.bus_client import BusClient
from runtime.bus.jetstream_api import ApiAnswer
from runtime.bus.marks import HEADER, Marks
from runtime.bus.replies import Pending, ReplyInbox, is_no_responders
from runtime.bus.storage import NO_ACKNOWLEDGEMENT, Storage
from runtime.errors import (
    FenceRefusedError,
    NotStoredError,
    PublishFailedError,
    PublishRefusedError,
    PublishTimeoutError,
)
from runtime.observability.metrics import PUBLISHED
from runtime.observability.telemetry import trace_headers, work_headers

FENCE_CODES = frozenset({10071, 10164})
_DUPLICATE_IN_PROGRESS = 10158
_IN_PROGRESS = "an earlier attempt is being stored"
FIRST_ATTEMPT_TIMEOUT = 0.5
"""Seconds to wait for the first acknowledgement; each further attempt waits twice as long."""
MAX_ATTEMPT_TIMEOUT = 4.0
"""The longest that an attempt waits, in seconds."""
RETRY_PAUSE = 0.05
"""Seconds before an event that no server accepted is sent again."""
MAX_RETRY_PAUSE = 0.25
"""The longest pause between attempts while a stream refuses messages, in seconds."""
SILENT_ATTEMPTS = 2
"""Unacknowledged attempts on a working connection after which the stream counts as refusing messages."""
SLICE = 0.1
"""Seconds between checks that the connection is still the one on which the event was sent."""


@dataclass(frozen=True, slots=True)
class Fence:
    """Append only if the newest message that matches `filter` is at `seq` (0: there is none).

    Writers that fence each other must use the byte-identical filter: with three replicas the check is atomic only among
    equal filters.
    """

    seq: int
    filter: str


@dataclass(frozen=True, slots=True)
class Appended:
    """Stored at `seq`. `duplicate`: the stream already held this Msg-Id (perhaps from an earlier attempt)."""

    seq: int
    duplicate: bool


def event_json(
    event_type: str, source: str, data: object, *, subject: str | None = None, identity: str | None = None
) -> bytes:
    """Returns an event as CloudEvent.to_json writes it, without checking its data against a model."""
    attributes = {
        "specversion": "1.0",
        "id": identity or uuid7(),
        "source": source,
        "type": event_type,
        "time": datetime.now(UTC),
    }
    subject_attribute = {} if subject is None else {"subject": subject}
    event = {**attributes, **subject_attribute, "datacontenttype": "application/json", "data": data}
    return orjson.dumps(event, option=orjson.OPT_UTC_Z)


class Publisher:
    """Appends events to streams and sends live ones."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._inbox = ReplyInbox.of(self._client)
        self._marks = Marks.of(self._client)
        self._storage = Storage.of(self._client)

    async def append(
        self,
        subject: str,
        event: bytes | CloudEvent[Any],
        *,
        stream: str,
        msg_id: str,
        fence: Fence | None = None,
        deadline: float = 15.0,
        headers: dict[str, str] | None = None,
    ) -> Appended:
        """Stores an event; retries under the same id for up to `deadline` seconds.

        Raises:
            FenceRefusedError: a newer message matches the fence's filter.
            PublishRefusedError: the server will never accept it.
            PublishTimeoutError: no acknowledgement in time; whether it is stored is unknown.
            NotStoredError: it was certainly not stored, since nobody accepted it in time.
        """
        body = event if isinstance(event, bytes) else event.to_json()
        extra_headers = dict(headers or {})
        if fence is not None:
            extra_headers["Nats-Expected-Last-Subject-Sequence"] = str(fence.seq)
            extra_headers["Nats-Expected-Last-Subject-Sequence-Subject"] = fence.filter
        head = self._head(subject, body, stream, msg_id, extra_headers)
        outcome = "stored"
        try:
            with await self._inbox.expect() as pending:
                stored = await self._until_stored(subject, body, head, pending, stream, deadline)
                self._storage.took(stream)
                return stored
        except PublishFailedError as error:
            outcome = type(error).__name__
            raise
        finally:
            PUBLISHED.labels(stream, outcome).inc()

    async def send(self, subject: str, event: bytes | CloudEvent[Any], *, stream: str, msg_id: str) -> bool:
        """Sends an event to a stream without waiting for an acknowledgement: for a request whose answer proves that it
        was stored. If no answer comes, `append` the same event under the same id. Returns False if it was not even
        sent, since the connection is down."""
        if not self._client.is_connected:
            return False
        body = event if isinstance(event, bytes) else event.to_json()
        await self._client.publish(subject, body, headers=self._head(subject, body, stream, msg_id, {}))
        return True

    def _head(self, subject: str, body: bytes, stream: str, msg_id: str, more: dict[str, str]) -> dict[str, str]:
        head = {"Nats-Msg-Id": msg_id, "Nats-Expected-Stream": stream, **work_headers(), **more}
        if (mark := self._marks.mark(stream, subject, head, body)) is not None:
            head[HEADER] = mark
        return head

    async def _until_stored(
        self, subject: str, body: bytes, head: dict[str, str], pending: Pending, stream: str, deadline: float
    ) -> Appended:
        clock = asyncio.get_running_loop().time
        end = clock() + deadline
        attempt, pause = FIRST_ATTEMPT_TIMEOUT, RETRY_PAUSE
        unacknowledged = 0
        reason = "not connected"
        while True:
            remaining = end - clock()
            if remaining <= 0:
                if unacknowledged:
                    raise PublishTimeoutError(
                        f"{subject} got no acknowledgement within {deadline:g} s; it may be stored"
                    )
                raise NotStoredError(f"{subject} was not stored within {deadline:g} s: {reason}")
            if not self._client.is_connected:
                if self._client.is_closed and not unacknowledged:
                    raise NotStoredError(f"{subject} was not stored: the connection is closed, the service is stopping")
                await asyncio.sleep(min(RETRY_PAUSE, remaining))
                continue
            try:
                await self._client.publish(subject, body, reply=pending.reply_to, headers=head)
            except MaxPayloadError as error:
                raise PublishRefusedError(
                    f"{subject}: {len(body)} bytes are more than the server takes", code=0
                ) from error
            except NatsError as error:
                reason = str(error)
                await asyncio.sleep(min(RETRY_PAUSE, remaining))
                continue
            answer = await self._acknowledgement(pending, min(attempt, remaining))
            if answer is None:
                unacknowledged += 1
                if unacknowledged >= SILENT_ATTEMPTS and self._client.is_connected:
                    self._storage.refused(stream, NO_ACKNOWLEDGEMENT)
                attempt = min(attempt * 2, MAX_ATTEMPT_TIMEOUT)
                continue
            stored = _read_answer(answer, maybe_own=unacknowledged > 0)
            if isinstance(stored, Appended):
                return stored
            reason = stored
            if reason is not _IN_PROGRESS:
                self._storage.refused(stream, reason)
            pending.reset()
            # Many writers may wait for a full stream, so each tries less and less often.
            await asyncio.sleep(min(pause, max(end - clock(), 0)))
            pause = min(pause * 2, MAX_RETRY_PAUSE)

    async def _acknowledgement(self, pending: Pending, seconds: float) -> Msg | None:
        """Returns the acknowledgement; None if it has not come in time, or cannot come because the connection has
        changed."""
        clock = asyncio.get_running_loop().time
        end = clock() + seconds
        reconnects = self._client.stats["reconnects"]
        while (remaining := end - clock()) > 0 and self._client.stats["reconnects"] == reconnects:
            try:
                return (await pending.wait(min(remaining, SLICE)))[0]
            except TimeoutError:
                continue
        return None

    async def publish_live(
        self, subject: str, event: bytes | CloudEvent[Any], headers: dict[str, str] | None = None
    ) -> bool:
        """Sends a live event on core NATS, unconfirmed; it may be lost. Returns False if it was not even sent.

        While the connection is down the event is dropped: the reconnect buffer is for durable facts.
        """
        if not self._client.is_connected:
            return False
        head = trace_headers()
        if headers:
            head.update(headers)
        body = event if isinstance(event, bytes) else event.to_json()
        await self._client.publish(subject, body, headers=head or None)
        return True

    def publish_live_now(self, subject: str, event: bytes) -> bool:
        """`publish_live` without waiting, if possible. Returns False if nothing was sent: then use `publish_live`."""
        client = self._client
        return isinstance(client, BusClient) and client.publish_now(subject, event, headers=trace_headers() or None)


class _Stored(ApiAnswer):
    seq: int
    duplicate: NotRequired[bool]


def _read_answer(message: Msg, *, maybe_own: bool) -> Appended | str:
    """Returns the server's acknowledgement, or the reason to retry; raises an error for any other refusal."""
    if is_no_responders(message):
        return "no stream takes this subject, or JetStream is not up"
    answer: _Stored = orjson.loads(message.data)
    error = answer.get("error")
    if error is None:
        return Appended(answer["seq"], duplicate=answer.get("duplicate", False))
    code, text = error.get("err_code", 0), error.get("description", "refused")
    if code in FENCE_CODES:
        match = re.search(r"sequence: (\d+)", text)
        newest = int(match[1]) if match else 0
        raise FenceRefusedError(f"{text} ({code})", code=code, maybe_own=maybe_own, newest=newest)
    if code == _DUPLICATE_IN_PROGRESS:
        return _IN_PROGRESS
    if error.get("code", 500) >= 500:
        return f"{text} ({code})"
    raise PublishRefusedError(f"{text} ({code})", code=code)
