"""Batches from a durable pull consumer: all messages that have arrived when the next batch is taken.

Stopping loses no message: first the requests end, then the messages that have arrived are returned; the server has sent
no others.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.bus.bus_client import BusClient
from runtime.workers.pull_requests import PullRequests

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
        self._requests = PullRequests(client, stream, durable, on_message=self._on_message, on_end=self._on_end)
        self._size = size
        self._urgent = urgent
        self._arrived: deque[Msg] = deque()
        self._wake = asyncio.Event()
        self._hurried_until = 0.0
        self._woken = False
        self._lost: str | None = None

    @property
    def is_deaf(self) -> bool:
        """Whether the server does not answer, although requests were repeated."""
        return self._requests.is_deaf

    async def open(self) -> None:
        await self._requests.open()
        if isinstance(self._client, BusClient):
            self._client.on_reconnect.append(self.wake)

    async def close(self) -> list[Msg]:
        """Stops receiving; returns the messages that have arrived and were not taken."""
        if isinstance(self._client, BusClient) and self.wake in self._client.on_reconnect:
            self._client.on_reconnect.remove(self.wake)
        await self._requests.close()
        arrived = list(self._arrived)
        self._arrived.clear()
        return arrived

    async def next(self, wait: float, linger: float) -> list[Msg]:
        """Returns up to `size` messages; an empty list if none came within `wait` seconds.

        After the first message it waits `linger` seconds for more, unless the batch is full earlier.

        Raises:
            ConsumerLostError: there is no consumer to pull from.
        """
        self._request()
        if not self._arrived and self._lost is None and not self._woken:
            await self._sleep(min(wait, self._requests.seconds_until_silent))
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

    def _request(self) -> None:
        self._requests.drop_lost()
        # A new request only when half of the last one is used up: one request for many messages.
        if self._requests.open_count <= self._size // 2 and len(self._arrived) < MAX_WAITING_BATCHES * self._size:
            self._requests.send(self._size)

    def _on_message(self, message: Msg) -> None:
        self._arrived.append(message)
        if self._urgent(message):
            self.hurry()
        elif not 1 < len(self._arrived) < self._size:
            self._wake.set()

    def _on_end(self, status: str, reason: str) -> None:
        if status:
            self._lost = f"{status} {reason}".strip()
            self._wake.set()
        else:
            self._request()
