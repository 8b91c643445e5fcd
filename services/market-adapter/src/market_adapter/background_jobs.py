"""Runs the work that depends on the market: after each of its moves, and every few seconds in case a move was
missed."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import structlog

from runtime.clock import Clock


class BackgroundJobs:
    """Runs its jobs again and again, one after the other. A failed one is tried again in the next round."""

    def __init__(self, duties: Sequence[Callable[[], Awaitable[None]]], time: Clock, *, every: float) -> None:
        """`every`: seconds between two rounds when nothing wakes it."""
        self._duties = duties
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
        """Runs the duties in turn until `stop`."""
        while not self._stopping:
            self._wake.clear()
            await self.round()
            await self._wait()

    async def round(self) -> None:
        """Runs each duty once."""
        for duty in self._duties:
            try:
                await duty()
            except Exception as error:
                self._log.warning("market.duty_failed", duty=duty.__qualname__, error=str(error))

    async def _wait(self) -> None:
        if self._stopping:
            return
        waits = (asyncio.ensure_future(self._wake.wait()), asyncio.ensure_future(self._time.sleep(self._every)))
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()
