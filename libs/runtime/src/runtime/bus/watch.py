"""Waits for the next change of a value: the one message under its subject, in a directly readable stream."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.errors import Error as NatsError

from runtime.bus.connection import subscribe

POLL_INTERVAL = 2.0
"""Seconds after which a waiting caller reads by itself, since signs may be lost."""
REPLICA_LAG = 0.05
"""Seconds before the second read after a sign, since a replica may be behind."""


@asynccontextmanager
async def watch(client: Client, subject: str, seconds: float) -> AsyncGenerator[Callable[[], Awaitable[bool]]]:
    """Returns a function that waits, between one read of the value and the next, until there may be a new one; False
    when the time is up and the value has been read since."""
    signed = asyncio.Event()
    came = False
    clock = asyncio.get_running_loop().time
    end = clock() + seconds

    async def sign(_: Msg) -> None:
        signed.set()

    async def changed() -> bool:
        nonlocal came
        left = end - clock()
        if left <= 0:
            return False
        with suppress(TimeoutError):  # a sign may be lost: it is looked at all the same
            async with asyncio.timeout(min(left, REPLICA_LAG if came else POLL_INTERVAL)):
                await signed.wait()
        came = signed.is_set()
        signed.clear()
        return True

    subscription = await subscribe(client, subject, sign)
    try:
        yield changed
    finally:
        with suppress(NatsError):  # it ends with the connection
            await subscription.unsubscribe()
