"""Tells other replicas over core NATS that the sample clock has moved.

The message is empty: where the clock stands is in MongoDB alone, so a nudge that is lost, doubled or forged does no
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
        """Wakes every replica. Raises what the client raises when the connection is closed."""
        await self._client.publish(MARKET_CLOCK, b"")

    async def listen(self, heard: Callable[[], None]) -> None:
        """Calls `heard` at each nudge, one's own included, until the connection ends."""

        async def on_message(_message: Msg) -> None:
            heard()

        await subscribe(self._client, MARKET_CLOCK, on_message)
