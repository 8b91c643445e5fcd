"""The projection's progress: the acknowledgement floor of its consumer. Acknowledged facts have been stored.

One task asks the server: occasionally at rest, every few milliseconds while somebody waits. The reply also contains the
server's own time, by which waits are measured. Requests for /metrics trigger a question too.
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
from memory.metrics import BEHIND
from runtime.background import BackgroundLoop
from runtime.bus.jetstream_api import ConsumerInfo, ask, floor_of
from runtime.bus.replies import ReplyInbox

STIRRED, IDLE = 15.0, 45.0
"""Seconds until the next question if nobody waits: after something was projected here, and how much longer
otherwise."""
RECENT = 0.2
"""Seconds for which an answer is recent enough for callers without a sequence who want what is stored now."""
URGENT = 0.02
"""Seconds between two questions while somebody waits; after a projection here the question is immediate."""
ANSWER = 2.0
LONGEST_LOOK = 10.0

_log = structlog.get_logger(__name__)


class ProjectionFloor:
    """The floor of one durable consumer. `era` tells which life of the log the sequences belong to."""

    name = "projection floor"

    def __init__(self, client: Client, stream: str, consumer: str, era: Callable[[], int]) -> None:
        self._inbox = ReplyInbox.of(client)
        self._subject = f"CONSUMER.INFO.{stream}.{consumer}"
        self._era = era
        self._position = LogPosition(0, 0)
        self._clock: tuple[datetime, float] | None = None
        self._waiters: dict[asyncio.Future[None], int] = {}
        self._urgent = asyncio.Event()
        self._moves = asyncio.Event()
        self._loop = BackgroundLoop(self.name, self.refresh, wait=self._until_due, longest=LONGEST_LOOK)
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop
        self._asked = float("-inf")
        self.hurry: Callable[[], None] = lambda: None
        """Called while somebody waits: the projection need not wait for a fuller batch."""
        self.calm: Callable[[], None] = lambda: None
        """Called when nobody waits any longer."""
        self.store: Callable[[], LogPosition | None] = lambda: None
        """The store's progress while it is behind what has been acknowledged (see application/positions)."""
        self.same_server: Callable[[], AbstractAsyncContextManager[None]] = contextlib.nullcontext
        """A block within which the store must not restart, since a restarted store may be further behind than
        `store` says."""

    @property
    def position(self) -> LogPosition:
        """The floor with its era."""
        store = self.store()
        return self._position if store is None else min(store, self._position)

    @property
    def seq(self) -> int:
        """The floor as last read; the current one may be higher."""
        position = self.position
        return position.seq if position.era == self._era() else 0

    async def start(self) -> None:
        """Asks once, then keeps asking."""
        await self.refresh()
        self._loop.start()

    async def refresh(self) -> None:
        """Asks the server now. Without an answer nothing changes: an old floor is still true."""
        era, self._asked = self._era(), time.monotonic()
        try:
            answer = await ask(self._inbox, ConsumerInfo, self._subject, deadline=ANSWER)
        except (TimeoutError, NatsError) as error:
            _log.warning("the projection's floor is unknown for now", error=str(error) or error.__class__.__name__)
            return
        if "error" in answer:
            return
        if "ts" in answer:
            self._clock = (datetime.fromisoformat(answer["ts"]), time.monotonic())
        BEHIND.set(answer["num_pending"] + answer["num_ack_pending"])
        self._position = max(self._position, LogPosition(era, floor_of(answer)))
        for waiter, seq in list(self._waiters.items()):
            if self.seq < seq:
                self.hurry()
            elif not waiter.done():
                waiter.set_result(None)

    def stir(self) -> None:
        """Something was projected here, so the floor will move."""
        self._moves.set()

    async def recent(self) -> int:
        """The floor as of a moment ago."""
        if time.monotonic() - self._asked > RECENT:
            await self.refresh()
        return self.seq

    async def reach(self, seq: int, deadline: float) -> bool:
        """Waits until the floor has reached `seq`; False: not within `deadline` seconds."""
        if self.seq >= seq:
            return True
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters[waiter] = seq
        self._urgent.set()
        self._moves.set()
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
        if self._clock is None:
            await self.refresh()
        if self._clock is None:
            return datetime.now(UTC)
        stamp, at = self._clock
        return stamp + timedelta(seconds=time.monotonic() - at)

    async def _until_due(self) -> None:
        waits = ((URGENT, self._moves),) if self._waiters else ((IDLE, self._moves), (STIRRED, self._urgent))
        for seconds, event in waits:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
        self._urgent.clear()
        self._moves.clear()
