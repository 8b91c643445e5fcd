"""Batches from a durable pull consumer: all messages that have arrived when the next batch is taken.

The server always has an open request, so a message comes without a round trip. Stopping loses no message: first the
subscription ends, then the messages that have arrived are returned; the server has sent no others.
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import Error as NatsError

from runtime.bus.bus_client import BusClient
from runtime.bus.connection import listen
from runtime.bus.consumers import on_new_leader
from runtime.bus.replies import headers_of, status_of

REQUEST_SECONDS = 300.0
"""Seconds that a request lasts at most."""
HEARTBEAT_INTERVAL = 8.5
"""Seconds between the server's heartbeats while a request waits."""
SILENCE_TIMEOUT = 9.5
"""Seconds without a message or heartbeat after which a request counts as lost. It is a safety net: an unreachable
server shows on the connection, and a new leader of the consumer announces itself."""
CHECK_INTERVAL = 0.25
"""Seconds between checks for silence."""
DEAF_AFTER_SECONDS = 20.0
"""Seconds without any reply, although requests were repeated, after which the puller counts as deaf."""
HURRIED, HURRIED_LINGER = 0.1, 0.02
"""After a hurry, for how many seconds batches fill only briefly, and that brief time in seconds: the message that a
caller waits for may be in transit. A longer wait hurries the batches again."""
MAX_WAITING_BATCHES = 2
"""How many batches may have arrived and not been taken before no more is requested."""


class ConsumerLostError(NatsError):
    """The consumer is missing or has no leader: ensure it, then pull again."""


class PullBatches:
    """Pulls from one durable consumer. Nothing is requested while MAX_WAITING_BATCHES batches wait. An `urgent` message
    hurries it."""

    def __init__(
        self,
        client: Client,
        stream: str,
        durable: str,
        size: int,
        urgent: Callable[[Msg], bool] = lambda _: False,
    ) -> None:
        self._client = client
        self._consumer = (stream, durable)
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._size = size
        self._urgent = urgent
        self._prefix = f"{client.new_inbox()}."
        self._arrived: deque[Msg] = deque()
        self._wake = asyncio.Event()
        self._subscription: Subscription | None = None
        self._leader_subscription: Subscription | None = None
        self._reconnects = client.stats["reconnects"]
        self._requested = 0
        self._request_number = 0
        self._heard_at = 0.0
        self._silent_since = 0.0
        self._hurried_until = 0.0
        self._woken = False
        self._lost: str | None = None

    @property
    def is_deaf(self) -> bool:
        """Whether the server has not answered for DEAF_AFTER_SECONDS, although requests were repeated."""
        return bool(self._silent_since) and time.monotonic() - self._silent_since > DEAF_AFTER_SECONDS

    async def open(self) -> None:
        self._subscription = await listen(self._client, self._prefix + "*", self._on_message)
        self._leader_subscription = await on_new_leader(self._client, *self._consumer, self._request_again)
        if isinstance(self._client, BusClient):
            self._client.on_reconnect.append(self.wake)

    async def close(self) -> list[Msg]:
        """Stops receiving; returns the messages that have arrived and were not taken."""
        if isinstance(self._client, BusClient) and self.wake in self._client.on_reconnect:
            self._client.on_reconnect.remove(self.wake)
        if self._subscription is not None:
            await self._subscription.drain()
            self._subscription = None
        if self._leader_subscription is not None:
            await self._leader_subscription.unsubscribe()
            self._leader_subscription = None
        arrived = list(self._arrived)
        self._arrived.clear()
        return arrived

    async def next(self, wait: float, linger: float) -> list[Msg]:
        """Returns up to `size` messages; an empty list if none came within `wait` seconds.

        After the first message it waits `linger` seconds for more, unless the batch is full earlier.

        Raises:
            ConsumerLostError: there is no consumer to pull from.
        """
        await self._request()
        if not self._arrived and self._lost is None and not self._woken:
            await self._sleep(min(wait, max(self._heard_at + SILENCE_TIMEOUT - time.monotonic(), CHECK_INTERVAL)))
        if 0 < len(self._arrived) < self._size and self._lost is None:
            await self._sleep(min(linger, HURRIED_LINGER) if time.monotonic() < self._hurried_until else linger)
        self._woken = False
        if self._lost is not None:
            reason, self._lost = self._lost, None
            raise ConsumerLostError(reason)
        return [self._arrived.popleft() for _ in range(min(self._size, len(self._arrived)))]

    def wake(self) -> None:
        """Ends the current wait, or the next one if there is none now."""
        self._woken = True
        self._wake.set()

    def hurry(self) -> None:
        """Makes batches fill only briefly for a short time, because a caller waits for a message."""
        self._hurried_until = time.monotonic() + HURRIED
        self._wake.set()

    def calm(self) -> None:
        """Lets batches fill normally again, since no caller waits any more."""
        self._hurried_until = 0.0

    async def _sleep(self, seconds: float) -> None:
        self._wake.clear()
        timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    async def _request_again(self) -> None:
        """Sends the request again: the consumer's new leader does not know of it."""
        self._requested = 0
        await self._request()

    async def _request(self) -> None:
        now = time.monotonic()
        if self._client.stats["reconnects"] != self._reconnects:
            self._reconnects = self._client.stats["reconnects"]
            self._requested = 0
        if self._requested and now - self._heard_at > SILENCE_TIMEOUT:
            self._requested = 0
            self._silent_since = self._silent_since or self._heard_at
        # A new request only when half of the last one is used up: one request for many messages.
        if self._requested > self._size // 2 or len(self._arrived) >= MAX_WAITING_BATCHES * self._size:
            return
        self._request_number += 1
        self._requested, self._heard_at = self._size, now
        expires = REQUEST_SECONDS * random.uniform(0.7, 1.0)  # so that not all requests expire at the same time
        body = b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}' % (self._size, expires * 1e9, HEARTBEAT_INTERVAL * 1e9)
        await self._client.publish(self._subject, body, reply=f"{self._prefix}{self._request_number}")

    def _on_message(self, message: Msg) -> None:
        self._heard_at, self._silent_since = time.monotonic(), 0.0
        status = status_of(message)
        if status is None or message.data:
            self._requested = max(self._requested - 1, 0)
            self._arrived.append(message)
            if self._urgent(message):
                self.hurry()
            elif 1 < len(self._arrived) < self._size:
                return
        elif status == "100":
            return
        elif message.subject != f"{self._prefix}{self._request_number}":
            return  # status of an earlier request
        else:
            self._requested = 0
            if status != "408":
                self._lost = f"{status} {headers_of(message).get('Description', '')}".strip()
        self._wake.set()
