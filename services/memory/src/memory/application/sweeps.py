"""What is looked after now and then, in each replica; doing it twice does no harm."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

_log = structlog.get_logger(__name__)


class PeriodicSweep:
    """Calls `work` every `seconds`, one call after the other; a call that fails is the next one's business."""

    def __init__(self, name: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        self._name = name
        self._seconds = seconds
        self._work = work
        self._task: asyncio.Task[None] | None = None
        self._due = asyncio.Event()

    async def start(self) -> None:
        """Starts, with the first call at once."""
        self._task = asyncio.create_task(self._run(), name=self._name)

    def hurry(self) -> None:
        """Calls it now, or once more when it is being called."""
        self._due.set()

    async def stop(self) -> None:
        """Stops, in the middle of a call if need be."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        while True:
            self._due.clear()
            try:
                await self._work()
            except Exception as error:
                _log.warning("sweep failed", sweep=self._name, error=f"{error.__class__.__name__}: {error}"[:300])
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._seconds):
                    await self._due.wait()
