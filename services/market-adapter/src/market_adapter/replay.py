"""Keeps this replica's sample clock in step with the stored one, and moves the stored one on when that is due.

Any replica may move it, by compare-and-set, after it has shown a session for `seconds_per_bar`. It measures time by its
own monotonic clock, so a wrong wall clock does no harm. Time in which no replica runs does not count: after a restart
the clock continues at the session where it stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from market_adapter.adapters.mongo_session import MongoSessionStore
from market_adapter.domain.sample_clock import SampleClock
from runtime.clock import Clock, wait_at_most

POLL_SECONDS = 5.0
"""A replica that missed a nudge lags behind for at most this long."""
RETRY_SECONDS = 1.0
"""Pause before an unavailable store is read again."""


class SampleMover:
    """Moves the sample clock in step with the other replicas."""

    def __init__(
        self,
        clock: SampleClock,
        store: MongoSessionStore,
        nudge: Callable[[], Awaitable[None]],
        timer: Clock,
        *,
        seconds_per_bar: float,
        on_move: Callable[[], None] = lambda: None,
    ) -> None:
        """`nudge` has the other replicas wake at once, and may be lost; `on_move` is called when this clock has
        moved."""
        self._on_move = on_move
        self._clock = clock
        self._store = store
        self._nudge = nudge
        self._timer = timer
        self._seconds = seconds_per_bar
        self._due_at = 0.0
        self._wake = asyncio.Event()
        self._stopping = False
        self._log = structlog.get_logger()

    async def start(self) -> None:
        """Moves to the stored session, or stores the first one; raises what the store raises."""
        self._clock.move_to(await self._store.begin(self._clock.session))
        self._due_at = self._timer.monotonic() + self._seconds

    def wake(self) -> None:
        """Reads the stored session at once, because another replica may have moved it."""
        self._wake.set()

    def stop(self) -> None:
        """Ends `run` after the current step. It is a flag, because a cancellation can get lost inside the driver."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Moves the clock until its last session. An unavailable store stops the clock, not the service."""
        while not self._clock.ended and not self._stopping:
            try:
                await self.step()
            except Exception as error:
                self._log.warning("market.clock.stands_still", error=str(error), session=str(self._clock.session))
                await wait_at_most(self._wake, self._timer, RETRY_SECONDS)
                continue
            remaining = max(0.0, self._due_at - self._timer.monotonic())
            await wait_at_most(self._wake, self._timer, min(POLL_SECONDS, remaining))

    async def step(self) -> None:
        """Reads the stored session, and moves the clock by one session if that is due."""
        self._wake.clear()
        if self._clock.move_to(await self._store.begin(self._clock.session)):
            self._due_at = self._timer.monotonic() + self._seconds
            self._on_move()
        if self._clock.ended or self._timer.monotonic() < self._due_at:
            return
        next_session = self._clock.next_session
        if await self._store.advance(self._clock.session, next_session):
            self._clock.move_to(next_session)
            self._on_move()
            # Counted from the due time, so that the duration of steps does not add up. After a long stop nothing is
            # made up for: nobody could follow bars in quick succession.
            self._due_at += self._seconds
            if self._due_at <= self._timer.monotonic():
                self._due_at = self._timer.monotonic() + self._seconds
            self._log.info("market.clock.moved", session=str(next_session))
            await self._nudge()
        else:
            self._wake.set()
