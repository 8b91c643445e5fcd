"""The projection's progress: the acknowledgement floor of its consumer. Acknowledged facts are stored.

One task asks the server: occasionally when idle, every few milliseconds while somebody waits. The reply also contains
the server's own time, by which waits are measured. A request for /metrics asks the server too.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta

import structlog
from nats.aio.client import Client
from nats.errors import Error as NatsError

from memory.domain.keys import LogPosition
from memory.metrics import BEHIND, STANDING
from runtime.background import BackgroundLoop
from runtime.bus.jetstream_api import ConsumerInfo, ask, floor_of
from runtime.bus.replies import ReplyInbox

ACTIVE_SECONDS, IDLE_SECONDS = 15.0, 45.0
"""How long until the server is asked again if nobody waits: ACTIVE_SECONDS after something was projected here, and
IDLE_SECONDS more otherwise."""
RECENT_SECONDS = 0.2
"""How long an answer is recent enough for callers who want what is stored now and name no sequence."""
POLL_SECONDS = 0.02
"""Pause between two questions while somebody waits; after a projection here the server is asked at once."""
REPLY_TIMEOUT_SECONDS = 2.0
"""Deadline of the server's answer."""
LONGEST_REFRESH_SECONDS = 10.0
"""A question that takes longer than this counts as stuck."""

_log = structlog.get_logger(__name__)


class ProjectionFloor:
    """The floor of one durable consumer. `era` returns the era of the log to which its sequences belong."""

    name = "projection floor"

    def __init__(self, client: Client, stream: str, consumer: str, era: Callable[[], int]) -> None:
        self._inbox = ReplyInbox.of(client)
        self._subject = f"CONSUMER.INFO.{stream}.{consumer}"
        self._era = era
        self._position = LogPosition(0, 0)
        self._moved_at = time.monotonic()
        """When the floor last moved, or nothing waited."""
        self._clock: tuple[datetime, float] | None = None
        self._waiters: dict[asyncio.Future[None], int] = {}
        self._urgent = asyncio.Event()
        self._moved = asyncio.Event()
        self._loop = BackgroundLoop(self.name, self.refresh, wait=self._until_due, step_timeout=LONGEST_REFRESH_SECONDS)
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop
        self._asked_at = float("-inf")
        self.hurry: Callable[[], None] = lambda: None
        """Called while somebody waits: the projection must not wait for a fuller batch."""
        self.calm: Callable[[], None] = lambda: None
        """Called when nobody waits any longer."""
        self.store: Callable[[], LogPosition | None] = lambda: None
        """Returns the store's progress while it is behind the acknowledgements, otherwise None
        (application/positions)."""
        self.same_server: Callable[[], AbstractAsyncContextManager[None]] = contextlib.nullcontext
        """A context that fails if the store restarts inside it, since a restarted store may be further behind than
        `store` says."""

    @property
    def position(self) -> LogPosition:
        """The floor with its era."""
        store = self.store()
        return self._position if store is None else min(store, self._position)

    @property
    def seq(self) -> int:
        """The floor's sequence as last read; the current one may be higher."""
        position = self.position
        return position.seq if position.era == self._era() else 0

    async def start(self) -> None:
        """Asks the server once, then periodically."""
        await self.refresh()
        self._loop.start()

    async def refresh(self) -> None:
        """Asks the server now. Without an answer nothing changes: an old floor remains valid."""
        era, self._asked_at = self._era(), time.monotonic()
        try:
            answer = await ask(self._inbox, ConsumerInfo, self._subject, deadline=REPLY_TIMEOUT_SECONDS)
        except (TimeoutError, NatsError) as error:
            _log.warning("the projection's floor is unknown for now", error=str(error) or error.__class__.__name__)
            return
        if "error" in answer:
            return
        if "ts" in answer:
            self._clock = (datetime.fromisoformat(answer["ts"]), time.monotonic())
        before, self._position = self._position, max(self._position, LogPosition(era, floor_of(answer)))
        behind, now = answer["num_pending"] + answer["num_ack_pending"], time.monotonic()
        if not behind or self._position > before:
            self._moved_at = now
        BEHIND.set(behind)
        STANDING.set(now - self._moved_at)
        for waiter, seq in list(self._waiters.items()):
            if self.seq < seq:
                self.hurry()
            elif not waiter.done():
                waiter.set_result(None)

    def stir(self) -> None:
        """Notes that something was projected here, so the floor will move."""
        self._moved.set()

    async def recent(self) -> int:
        """The floor's sequence, read within the last RECENT_SECONDS."""
        if time.monotonic() - self._asked_at > RECENT_SECONDS:
            await self.refresh()
        return self.seq

    async def reach(self, seq: int, deadline: float) -> bool:
        """Waits until the floor has reached `seq`; returns False if it has not within `deadline` seconds."""
        if self.seq >= seq:
            return True
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = seq
        self._urgent.set()
        self._moved.set()
        self.hurry()
        try:
            async with asyncio.timeout(deadline):
                await waiter
        except TimeoutError:
            return self.seq >= seq
        finally:
            del self._waiters[waiter]
            if not self._waiters:
                self.calm()
        return True

    async def now(self) -> datetime:
        """The server's current time; this machine's if the server has not answered yet."""
        if self._clock is None:
            await self.refresh()
        if self._clock is None:
            return datetime.now(UTC)
        server_time, read_at = self._clock
        return server_time + timedelta(seconds=time.monotonic() - read_at)

    async def _until_due(self) -> None:
        waits = (
            ((POLL_SECONDS, self._moved),)
            if self._waiters
            else ((IDLE_SECONDS, self._moved), (ACTIVE_SECONDS, self._urgent))
        )
        for seconds, event in waits:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
        self._urgent.clear()
        self._moved.clear()
