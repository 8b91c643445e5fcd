"""Batches from a durable pull consumer: whatever has arrived when the next batch is requested.

The server always has a request, so a message comes without a round trip. Stopping loses no message: first the
subscription ends, then what has arrived is handed out; the server has sent nothing else.
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

EXPIRES = 300.0
HEARTBEAT = 8.5
SILENCE = 9.5
"""Seconds without a message or heartbeat after which a request counts as lost. A server that is away shows on the
connection, and a new leader of the consumer announces itself: this is the safety net below both."""
TICK = 0.25
"""Seconds between two checks for silence."""
DEAF = 20.0
"""Seconds without any reply after which a puller that keeps asking counts as deaf."""
HURRIED, HURRIED_LINGER = 0.1, 0.02
"""After somebody was waiting, batches fill only briefly for this long; and that brief time. What the waiter needs may
be on its way; a longer wait hurries the batches again."""
RESERVE = 2
"""The most batches requested but not taken."""


class ConsumerLostError(NatsError):
    """The consumer is gone, or has no leader: ensure it, then pull again."""


class PullBatches:
    """One puller of one durable consumer. Nothing more is requested while RESERVE batches wait. An `urgent` message
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
        self._of = (stream, durable)
        self._subject = f"$JS.API.CONSUMER.MSG.NEXT.{stream}.{durable}"
        self._size = size
        self._urgent = urgent
        self._prefix = f"{client.new_inbox()}."
        self._arrived: deque[Msg] = deque()
        self._wake = asyncio.Event()
        self._subscription: Subscription | None = None
        self._elected: Subscription | None = None
        self._reconnects = client.stats["reconnects"]
        self._asked = 0
        self._name = 0
        self._heard = 0.0
        self._silent_since = 0.0
        self._hurried_until = 0.0
        self._woken = False
        self._lost: str | None = None

    @property
    def deaf(self) -> bool:
        """Whether the server has not answered for DEAF seconds, although it was asked again."""
        return bool(self._silent_since) and time.monotonic() - self._silent_since > DEAF

    async def open(self) -> None:
        self._subscription = await listen(self._client, self._prefix + "*", self._on_message)
        self._elected = await on_new_leader(self._client, *self._of, self._ask_anew)
        if isinstance(self._client, BusClient):
            self._client.on_reconnect.append(self.wake)

    async def close(self) -> list[Msg]:
        """Stops receiving; returns what has arrived and was not taken."""
        if isinstance(self._client, BusClient) and self.wake in self._client.on_reconnect:
            self._client.on_reconnect.remove(self.wake)
        if self._subscription is not None:
            await self._subscription.drain()
            self._subscription = None
        if self._elected is not None:
            await self._elected.unsubscribe()
            self._elected = None
        left = list(self._arrived)
        self._arrived.clear()
        return left

    async def next(self, wait: float, linger: float) -> list[Msg]:
        """Up to `size` messages; none if none came within `wait` seconds.

        After the first, it waits `linger` seconds for more, unless a batch is complete before.

        Raises:
            ConsumerLostError: there is no consumer to pull from.
        """
        await self._ask()
        if not self._arrived and self._lost is None and not self._woken:
            await self._sleep(min(wait, max(self._heard + SILENCE - time.monotonic(), TICK)))
        if 0 < len(self._arrived) < self._size and self._lost is None:
            await self._sleep(min(linger, HURRIED_LINGER) if time.monotonic() < self._hurried_until else linger)
        self._woken = False
        if self._lost is not None:
            lost, self._lost = self._lost, None
            raise ConsumerLostError(lost)
        return [self._arrived.popleft() for _ in range(min(self._size, len(self._arrived)))]

    def wake(self) -> None:
        """Ends a wait, or the next one if nobody waits now."""
        self._woken = True
        self._wake.set()

    def hurry(self) -> None:
        """Somebody waits for a message: for a short time batches are handed out nearly at once."""
        self._hurried_until = time.monotonic() + HURRIED
        self._wake.set()

    def calm(self) -> None:
        """Lets batches fill again, since nobody is waiting."""
        self._hurried_until = 0.0

    async def _sleep(self, seconds: float) -> None:
        self._wake.clear()
        timer = asyncio.get_running_loop().call_later(seconds, self._wake.set)
        try:
            await self._wake.wait()
        finally:
            timer.cancel()

    async def _ask_anew(self) -> None:
        """Sends the request again: the consumer's new leader does not know of it."""
        self._asked = 0
        await self._ask()

    async def _ask(self) -> None:
        now = time.monotonic()
        if self._client.stats["reconnects"] != self._reconnects:
            self._reconnects = self._client.stats["reconnects"]
            self._asked = 0
        if self._asked and now - self._heard > SILENCE:
            self._asked = 0
            self._silent_since = self._silent_since or self._heard
        # Asking again only when half is used up costs one request for many messages.
        if self._asked > self._size // 2 or len(self._arrived) >= RESERVE * self._size:
            return
        self._name += 1
        self._asked, self._heard = self._size, now
        expires = EXPIRES * random.uniform(0.7, 1.0)  # so that not all are renewed at once
        body = b'{"batch":%d,"expires":%d,"idle_heartbeat":%d}' % (self._size, expires * 1e9, HEARTBEAT * 1e9)
        await self._client.publish(self._subject, body, reply=f"{self._prefix}{self._name}")

    def _on_message(self, message: Msg) -> None:
        self._heard, self._silent_since = time.monotonic(), 0.0
        status = status_of(message)
        if status is None or message.data:
            self._asked = max(self._asked - 1, 0)
            self._arrived.append(message)
            if self._urgent(message):
                self.hurry()
            elif 1 < len(self._arrived) < self._size:
                return
        elif status == "100":
            return
        elif message.subject != f"{self._prefix}{self._name}":
            return  # the end of an earlier request
        else:
            self._asked = 0
            if status != "408":
                self._lost = f"{status} {headers_of(message).get('Description', '')}".strip()
        self._wake.set()
