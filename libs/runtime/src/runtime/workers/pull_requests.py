"""Requests for messages of one durable pull consumer: the only way in which services consume.

The server always has an open request, so a message comes without a round trip. An idle request lasts five minutes,
which causes hardly any traffic; a busy one lasts two seconds. A lost request is sent again: after a reconnect, when the
consumer has a new leader, and after a silence that is longer than the server's heartbeats.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable
from contextlib import suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from runtime.bus.connection import listen, post
from runtime.bus.consumers import on_new_leader
from runtime.bus.replies import headers_of, status_of

REQUEST_SECONDS = 2.0
"""Seconds that a busy request lasts: less than a lease, so that a frozen worker gets no message twice."""
HEARTBEAT_INTERVAL, SILENCE_TIMEOUT = 1.0, 3.0
"""Seconds between the server's heartbeats for such a request; seconds without one after which it counts as lost."""
IDLE_REQUEST_SECONDS, IDLE_HEARTBEAT_INTERVAL = 300.0, 8.5
"""Seconds that an idle request lasts, and between the server's heartbeats meanwhile."""
IDLE_SILENCE_TIMEOUT = 9.5
"""Seconds without a heartbeat after which an idle request counts as lost. It is a safety net: an unreachable server
shows on the connection, and a new leader announces itself. A late heartbeat costs one more request."""
CHECK_INTERVAL = 0.25
"""Seconds between a worker's checks for lost requests."""
DEAF_AFTER_SECONDS = 10.0
"""Seconds without any reply to repeated requests, counted from the first repetition, after which only a new process
helps."""
CLOSE_TIMEOUT = 2.0
"""Seconds that messages in transit have to arrive when a worker stops."""


class PullRequests:
    """The open requests to one consumer.

    `on_message` is called with each message as it is read. `on_end` is called when the server ends a request before its
    time: with the status, such as 404, and the reason in the server's words; both are empty if the request just
    expired, or the consumer has a new leader that does not know of it. All other requests that are lost are found by
    `drop_lost`.
    """

    def __init__(
        self,
        client: Client,
        stream: str,
        durable: str,
        *,
        on_message: Callable[[Msg], None],
        on_end: Callable[[str, str], None],
    ) -> None:
        self._client = client
        self._consumer = (stream, durable)
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._prefix = f"{client.new_inbox()}."
        self._on_message = on_message
        self._on_end = on_end
        self._subscription: Subscription | None = None
        self._leader_subscription: Subscription | None = None
        self._unfilled: dict[str, int] = {}  # by request, the messages that are still to come
        self._last_key = 0
        self._reconnects = 0
        self._silence_timeout = SILENCE_TIMEOUT
        self._heard_at = self._deaf_since = 0.0
        self._is_closing = False

    @property
    def open_count(self) -> int:
        """The number of messages that the server may still send without being asked again."""
        return sum(self._unfilled.values())

    @property
    def is_silent(self) -> bool:
        """Whether the server has sent neither a message nor a heartbeat for too long, although something is
        requested."""
        return bool(self._unfilled) and time.monotonic() - self._heard_at > self._silence_timeout

    @property
    def is_deaf(self) -> bool:
        """Whether the server has not answered for DEAF_AFTER_SECONDS, although requests were repeated."""
        return bool(self._deaf_since) and time.monotonic() - self._deaf_since > DEAF_AFTER_SECONDS

    @property
    def seconds_until_silent(self) -> float:
        return max(self._heard_at + self._silence_timeout - time.monotonic(), CHECK_INTERVAL)

    async def open(self) -> None:
        self._reconnects = self._client.stats["reconnects"]
        self._subscription = await listen(self._client, self._prefix + "*", self._on_reply)
        self._leader_subscription = await on_new_leader(self._client, *self._consumer, self._on_leader)

    async def close(self, deadline: float = CLOSE_TIMEOUT) -> None:
        """Stops receiving. Messages in transit still come to `on_message`; the server has sent no others."""
        self._is_closing = True
        if self._subscription is not None:
            with suppress(NatsError, TimeoutError, asyncio.CancelledError):
                async with asyncio.timeout(min(CLOSE_TIMEOUT, deadline)):
                    await self._subscription.drain()
        if self._leader_subscription is not None:
            with suppress(NatsError):
                await self._leader_subscription.unsubscribe()

    def send(self, count: int, *, is_busy: bool = False) -> None:
        """Requests `count` messages more; nothing once it is closing, since nobody would take them."""
        if self._is_closing:
            return
        # A random time when idle, so that not all workers' requests expire at the same time.
        idle = IDLE_REQUEST_SECONDS * random.uniform(0.7, 1.0), IDLE_HEARTBEAT_INTERVAL
        expires, heartbeat = (REQUEST_SECONDS, HEARTBEAT_INTERVAL) if is_busy else idle
        self._silence_timeout = SILENCE_TIMEOUT if is_busy else IDLE_SILENCE_TIMEOUT
        if not self._unfilled:
            self._heard_at = time.monotonic()
        self._last_key += 1
        key = str(self._last_key)
        self._unfilled[key] = count
        body = b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}' % (count, expires * 1e9, heartbeat * 1e9)
        post(self._client, self._subject, body, self._prefix + key)

    def drop_lost(self) -> None:
        """Forgets requests that were sent before a reconnect, or to which the server has fallen silent."""
        is_silent, reconnects = self.is_silent, self._client.stats["reconnects"]
        if is_silent:
            self._deaf_since = self._deaf_since or time.monotonic()
        if is_silent or reconnects != self._reconnects:
            self._reconnects = reconnects
            self._unfilled.clear()

    def excuse_silence(self) -> None:
        """Counts the silence from now: the process was frozen, and replies that came meanwhile are still unread. With a
        new request, the server would have two."""
        self._heard_at = time.monotonic()

    def _on_reply(self, message: Msg) -> None:
        self._heard_at, self._deaf_since = time.monotonic(), 0.0
        status = status_of(message)
        if status is None or message.data:
            if key := next(iter(self._unfilled), None):
                self._unfilled[key] -= 1
                if not self._unfilled[key]:
                    del self._unfilled[key]
            self._on_message(message)
        elif status != "100":  # not a heartbeat
            self._unfilled.pop(message.subject[len(self._prefix) :], None)
            is_expired = status == "408"
            self._on_end(*(("", "") if is_expired else (status, headers_of(message).get("Description", ""))))

    async def _on_leader(self) -> None:
        self._unfilled.clear()
        self._on_end("", "")
