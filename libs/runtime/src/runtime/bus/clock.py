"""The time of the bus, so that services decide alike even if their own clocks differ or jump."""

import asyncio
import math
import time
from datetime import datetime

from nats.errors import NoRespondersError

from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox

SYNCHRONISED_SECONDS = 60.0
"""Seconds for which `time` trusts a synchronisation, or an attempt that failed."""


class JetStreamClock:
    """The server's time at the last synchronisation plus the monotonic time since; before that, this machine's time.
    `stream`: one that the service uses; its info tells the time."""

    def __init__(self, inbox: ReplyInbox, stream: str) -> None:
        self._inbox = inbox
        self._stream = stream
        self._offset = time.time() - time.monotonic()
        self._asked_at = -math.inf
        self._lock = asyncio.Lock()

    def now(self) -> float:
        """Seconds since the epoch by the bus's clock."""
        return time.monotonic() + self._offset

    async def time(self) -> float:
        """The same, after a synchronisation if the last one is a minute ago."""
        async with self._lock:
            if time.monotonic() - self._asked_at > SYNCHRONISED_SECONDS:
                await self.synchronise(deadline=1.0)
        return self.now()

    async def synchronise(self, deadline: float = 2.0) -> bool:
        """Sets the clock by the server's (the field `ts` of a stream's info); returns False if it did not answer."""
        self._asked_at = requested_at = time.monotonic()
        try:
            answer = await ask(self._inbox, StreamInfo, f"STREAM.INFO.{self._stream}", deadline=deadline)
            server_time = datetime.fromisoformat(answer["ts"]).timestamp()
        except (TimeoutError, NoRespondersError, KeyError, ValueError):
            return False
        # The server took the time between the request and now; the middle is the best guess.
        self._offset = server_time - (requested_at + time.monotonic()) / 2
        return True
