"""The time of the bus, so that agents decide alike even if their own clocks differ or jump."""

import time
from datetime import datetime

from nats.aio.client import Client
from nats.errors import NoRespondersError

from runtime.bus.jetstream_api import StreamInfo, ask
from runtime.bus.replies import ReplyInbox


class JetStreamClock:
    """The server's time at the last synchronisation plus the monotonic time since; before that, this machine's time."""

    def __init__(self, client: Client) -> None:
        self._inbox = ReplyInbox.of(client)
        self._offset = time.time() - time.monotonic()

    def now(self) -> float:
        """Seconds since the epoch by the bus's clock."""
        return time.monotonic() + self._offset

    async def synchronise(self, deadline: float = 2.0) -> bool:
        """Sets the clock by the server's (the field `ts` of a stream's info); returns False if it did not answer."""
        requested_at = time.monotonic()
        try:
            answer = await ask(self._inbox, StreamInfo, "STREAM.INFO.CHAT", deadline=deadline)
            server_time = datetime.fromisoformat(answer["ts"]).timestamp()
        except (TimeoutError, NoRespondersError, KeyError, ValueError):
            return False
        # The server took the time between the request and now; the middle is the best guess.
        self._offset = server_time - (requested_at + time.monotonic()) / 2
        return True
