"""Waits for the next change of a value: the only message under its subject, in a stream with direct reads."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.bus.connection import subscribe

POLL_INTERVAL = 2.0
"""Seconds after which a waiting caller reads anyway, since a notification may be lost."""
REPLICA_LAG = 0.05
"""Seconds before the second read after a notification, since a replica may be behind."""


@asynccontextmanager
async def watch(client: Client, subject: str, seconds: float) -> AsyncGenerator[Callable[[], Awaitable[bool]]]:
    """Yields a function to call between two reads of the value. It waits until there may be a new one, and returns
    False once the time is up and the value has been read since."""
    signal_came = asyncio.Event()
    was_signalled = False
    clock = asyncio.get_running_loop().time
    end = clock() + seconds

    async def sign(_: Msg) -> None:
        signal_came.set()

    async def changed() -> bool:
        nonlocal was_signalled
        remaining = end - clock()
        if remaining <= 0:
            return False
        with suppress(TimeoutError):  # a notification may be lost, so the value is read anyway
            async with asyncio.timeout(min(remaining, REPLICA_LAG if was_signalled else POLL_INTERVAL)):
                await signal_came.wait()
        was_signalled = signal_came.is_set()
        signal_came.clear()
        return True

    subscription = await subscribe(client, subject, sign)
    try:
        yield changed
    finally:
        with suppress(NatsError):  # the subscription ends with the connection
            await subscription.unsubscribe()
