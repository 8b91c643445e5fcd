"""Background work that runs as long as its service, whatever fails in it.

A step that takes too long is cancelled. Neither an error nor a stray cancellation ends the loop. If it has ended all
the same, or a step ignores its cancellation, `stuck_because` reports it (runtime.liveness).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable

import structlog

log = structlog.get_logger(__name__)

LONGEST = 600.0
"""Default deadline of a step, in seconds."""
ENDED_WITHIN = 10.0
"""Seconds for a cancelled step to end, and for the loop to end when it is stopped."""
PAUSE = 1.0
"""Seconds after a step that failed."""


class BackgroundLoop:
    """`wait` returns when there may be something to do, however long that takes; then `step` does it, within
    `longest` seconds."""

    def __init__(
        self,
        name: str,
        step: Callable[[], Awaitable[object]],
        *,
        wait: Callable[[], Awaitable[object]],
        longest: float = LONGEST,
    ) -> None:
        self.name = name
        self._step = step
        self._wait = wait
        self._longest = longest
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._began: float | None = None

    def start(self) -> None:
        self._task = asyncio.create_task(self._run(), name=self.name)

    async def stop(self) -> None:
        """Ends the loop, cancelling a running step."""
        self._stopping = True
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=ENDED_WITHIN)

    def stuck_because(self) -> str | None:
        """See runtime.liveness: problems that only a new process can solve."""
        if self._task is None or self._stopping:
            return None
        if self._task.done():
            return "its task has ended"
        if self._began is not None and time.monotonic() - self._began > self._longest + ENDED_WITHIN:
            return f"a step was broken off after {self._longest:g} s and does not end"
        return None

    async def _run(self) -> None:
        while not self._stopping:
            try:
                await asyncio.sleep(0)  # where neither waits for anything, everybody else has a turn all the same
                await self._wait()
                self._began = time.monotonic()
                async with asyncio.timeout(self._longest):
                    await self._step()
            except asyncio.CancelledError:
                # Of something that a step waited for: drivers cancel their own when a connection breaks.
                if self._stopping or _is_cancelled():
                    raise
                await self._failed("something that it waited for was cancelled")
            except Exception as error:
                log.debug("background.traceback", loop=self.name, exc_info=True)
                await self._failed(f"{type(error).__name__}: {error}"[:300])
            self._began = None

    async def _failed(self, error: str) -> None:
        self._began = None
        log.warning("background.failed", loop=self.name, error=error)
        await asyncio.sleep(PAUSE)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
