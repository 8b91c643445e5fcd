"""Periodic work that each replica does; doing it twice is harmless."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable

import structlog

from runtime.background import BackgroundLoop

RETRY_SECONDS = 5.0
"""The longest wait before failed work is retried: some sweeps run only hourly."""

_log = structlog.get_logger(__name__)


class PeriodicSweep:
    """Calls `work` every `seconds`, never concurrently; a failure is retried soon.

    With `idle_seconds`, a call that found nothing (returned 0 or False) is followed by the next after that many
    seconds, or earlier after `stir`.
    """

    def __init__(
        self, name: str, seconds: float, work: Callable[[], Awaitable[object]], *, idle_seconds: float | None = None
    ) -> None:
        self.name = name
        self._seconds = seconds
        self._work = work
        self._idle = idle_seconds
        self._repeats = 0
        self._is_first, self._has_found, self._has_failed = True, True, False
        self._due, self._stirred = asyncio.Event(), asyncio.Event()
        self._loop = BackgroundLoop(name, self._call, wait=self._until_due)
        self.stuck_because = self._loop.stuck_because
        self.stop = self._loop.stop

    async def start(self) -> None:
        """Starts, with the first call at once."""
        self._loop.start()

    def hurry(self, again: int = 0) -> None:
        """Calls `work` now, or once more if it is running; the next `again` calls follow at the usual interval."""
        self._repeats = again
        self._due.set()
        self._stirred.set()

    def stir(self) -> None:
        """Notes that there may be something to do: the next call comes after the usual interval."""
        self._stirred.set()

    async def _until_due(self) -> None:
        interval = min(self._seconds, RETRY_SECONDS) if self._has_failed else self._seconds
        if not self._is_first and not await _set_within(interval, self._due) and self._idle and not self._has_found:
            await _set_within(self._idle - self._seconds, self._stirred)
        self._is_first = False
        self._due.clear()
        self._stirred.clear()

    async def _call(self) -> None:
        self._has_found, self._has_failed = True, False
        repeats, self._repeats = self._repeats, max(self._repeats - 1, 0)
        try:
            self._has_found = bool(await self._work()) or repeats > 0
        except Exception as error:
            self._has_failed = True
            _log.warning("sweep failed", sweep=self.name, error=f"{error.__class__.__name__}: {error}"[:300])


async def _set_within(seconds: float, event: asyncio.Event) -> bool:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            return await event.wait()
    return False
