"""Tells other replicas over core NATS that the sample clock has moved.

The message is empty: the clock's session is stored only in MongoDB, so a nudge that is lost, repeated or forged does no
harm.
"""

from collections.abc import Callable

from nats.aio.client import Client
from nats.aio.msg import Msg

from contracts.channels import MARKET_CLOCK
from runtime.bus.connection import subscribe


class NatsNudge:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def send(self) -> None:
        """Wakes every replica. Raises what the client raises if the connection is closed."""
        await self._client.publish(MARKET_CLOCK, b"")

    async def listen(self, on_nudge: Callable[[], None]) -> None:
        """Calls `on_nudge` at each nudge, its own included, until the connection ends."""

        async def on_message(_message: Msg) -> None:
            on_nudge()

        await subscribe(self._client, MARKET_CLOCK, on_message)
