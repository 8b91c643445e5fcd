"""Keeps this replica's sample clock in step with the stored one, and moves the stored one on when it is time.

Any replica may move it, by compare-and-set, after it has shown a session for `seconds_per_bar`. It measures by its own
monotonic clock, so a wrong wall clock does no harm. Time in which nothing runs does not count: after a restart the
clock continues at the session where it stopped.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog

from market_adapter.adapters.mongo_session import MongoSessionStore
from market_adapter.domain.sample_clock import SampleClock
from runtime.clock import Clock, wait_at_most

POLL_SECONDS = 5.0
"""A replica that missed a nudge is behind for at most this long."""
AFTER_FAILURE = 1.0
"""Seconds until a store that was away is looked at again."""


class SampleMover:
    """Moves the sample clock, together with the other replicas."""

    def __init__(
        self,
        clock: SampleClock,
        store: MongoSessionStore,
        nudge: Callable[[], Awaitable[None]],
        time: Clock,
        *,
        seconds_per_bar: float,
        moved: Callable[[], None] = lambda: None,
    ) -> None:
        """`nudge` has the other replicas look at once, and may be lost; `moved` is called when this clock has moved."""
        self._moved = moved
        self._clock = clock
        self._store = store
        self._nudge = nudge
        self._time = time
        self._seconds = seconds_per_bar
        self._due = 0.0
        self._look = asyncio.Event()
        self._stopping = False
        self._log = structlog.get_logger()

    async def start(self) -> None:
        """Takes over the stored session, or stores the first one. Raises what the store raises."""
        self._clock.move_to(await self._store.begin(self._clock.session))
        self._due = self._time.monotonic() + self._seconds

    def look(self) -> None:
        """Reads the stored clock at once, because another replica has moved it."""
        self._look.set()

    def stop(self) -> None:
        """Ends `run` after the step that it is in. A flag, because a cancellation can get lost inside the driver."""
        self._stopping = True
        self._look.set()

    async def run(self) -> None:
        """Moves the clock until its last session. A store that is away stops the clock, not the service."""
        while not self._clock.ended and not self._stopping:
            try:
                await self.step()
            except Exception as error:
                self._log.warning("market.clock.stands_still", error=str(error), session=str(self._clock.session))
                await wait_at_most(self._look, self._time, AFTER_FAILURE)
                continue
            left = max(0.0, self._due - self._time.monotonic())
            await wait_at_most(self._look, self._time, min(POLL_SECONDS, left))

    async def step(self) -> None:
        """Looks at the store, and moves the clock by one session when it is due."""
        self._look.clear()
        if self._clock.move_to(await self._store.begin(self._clock.session)):
            self._due = self._time.monotonic() + self._seconds
            self._moved()
        if self._clock.ended or self._time.monotonic() < self._due:
            return
        to = self._clock.next_session
        if await self._store.advance(self._clock.session, to):
            self._clock.move_to(to)
            self._moved()
            # Counted from when it was due, so that the time of a step does not add up. What a long stop has missed is
            # not made up for: bars in quick succession would be no market that anybody could follow.
            self._due += self._seconds
            if self._due <= self._time.monotonic():
                self._due = self._time.monotonic() + self._seconds
            self._log.info("market.clock.moved", session=str(to))
            await self._nudge()
        else:
            self._look.set()
