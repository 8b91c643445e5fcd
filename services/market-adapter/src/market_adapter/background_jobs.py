"""Runs the jobs that depend on the market: after each of its moves, and every few seconds in case a move was missed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from runtime.clock import Clock, wait_at_most


class BackgroundJobs:
    """Runs its jobs again and again, one after another. A failed job is tried again in the next round."""

    def __init__(self, jobs: Sequence[Callable[[], Awaitable[None]]], clock: Clock, *, round_seconds: float) -> None:
        """`round_seconds`: time between two rounds if nothing wakes it."""
        self._jobs = jobs
        self._clock = clock
        self._round_seconds = round_seconds
        self._wake = asyncio.Event()
        self._stopping = False
        self._log = structlog.get_logger()

    def wake(self) -> None:
        """Starts a round now, because the market has moved."""
        self._wake.set()

    def stop(self) -> None:
        """Ends `run` after the current round."""
        self._stopping = True
        self._wake.set()

    async def run(self) -> None:
        """Runs the jobs in turn until `stop`."""
        while not self._stopping:
            self._wake.clear()
            await self.run_once()
            await wait_at_most(self._wake, self._clock, self._round_seconds)

    async def run_once(self) -> None:
        """Runs each job once."""
        for job in self._jobs:
            try:
                await job()
            except Exception as error:
                self._log.warning("market.duty_failed", duty=job.__qualname__, error=str(error))
