"""Runs the work that depends on the market: after each of its moves, and every few seconds in case a move was
missed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from runtime.clock import Clock, wait_at_most


class BackgroundJobs:
    """Runs its jobs again and again, one after the other. A failed one is tried again in the next round."""

    def __init__(self, jobs: Sequence[Callable[[], Awaitable[None]]], time: Clock, *, every: float) -> None:
        """`every`: seconds between two rounds when nothing wakes it."""
        self._jobs = jobs
        self._time = time
        self._every = every
        self._wake = asyncio.Event()
        self._stopping = False
        self._log = structlog.get_logger()

    def look(self) -> None:
        """The market has moved."""
        self._wake.set()

    def stop(self) -> None:
        """Ends `run` after the round that it is in."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Runs the jobs in turn until `stop`."""
        while not self._stopping:
            self._wake.clear()
            await self.round()
            await wait_at_most(self._wake, self._time, self._every)

    async def round(self) -> None:
        """Runs each job once."""
        for job in self._jobs:
            try:
                await job()
            except Exception as error:
                self._log.warning("market.duty_failed", duty=job.__qualname__, error=str(error))
