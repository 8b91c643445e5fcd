"""What is looked after now and then, in each replica; doing it twice does no harm."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from runtime.background import BackgroundLoop

_log = structlog.get_logger(__name__)


class PeriodicSweep:
    """Calls `work` every `seconds`, one call after the other; a call that fails is the next one's business."""

    def __init__(self, name: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        self.name = name
        self._seconds = seconds
        self._work = work
        self._first = True
        self._due = asyncio.Event()
        self._loop = BackgroundLoop(name, self._call, wait=self._until_due)
        self.still = self._loop.still
        self.stop = self._loop.stop

    async def start(self) -> None:
        """Starts, with the first call at once."""
        self._loop.start()

    def hurry(self) -> None:
        """Calls it now, or once more when it is being called."""
        self._due.set()

    async def _until_due(self) -> None:
        if not self._first:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._due.wait()
        self._first = False
        self._due.clear()

    async def _call(self) -> None:
        try:
            await self._work()
        except Exception as error:
            _log.warning("sweep failed", sweep=self.name, error=f"{error.__class__.__name__}: {error}"[:300])
