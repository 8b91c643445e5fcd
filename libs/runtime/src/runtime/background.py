"""Background work that runs as long as its service, whatever fails in it.

A step that takes too long is cancelled. Neither an error nor a stray cancellation ends the loop. If the loop has ended
anyway, or a step ignores its cancellation, `stuck_because` reports it (runtime.liveness).
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine
from contextvars import Context
from typing import Any, TypeVar

import structlog

log = structlog.get_logger(__name__)

ResultT = TypeVar("ResultT")

STEP_TIMEOUT = 600.0
"""Default deadline of a step, in seconds."""
END_TIMEOUT = 10.0
"""Seconds that a cancelled step has to end, and the loop when it is stopped."""
RETRY_PAUSE = 1.0
"""Seconds to wait after a failed step."""


class BackgroundLoop:
    """Repeats `wait`, which returns when there may be something to do and may take any time, and `step`, which does it
    within `step_timeout` seconds."""

    def __init__(
        self,
        name: str,
        step: Callable[[], Awaitable[object]],
        *,
        wait: Callable[[], Awaitable[object]],
        step_timeout: float = STEP_TIMEOUT,
    ) -> None:
        self.name = name
        self._step = step
        self._wait = wait
        self._step_timeout = step_timeout
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
            await asyncio.wait([self._task], timeout=END_TIMEOUT)

    def stuck_because(self) -> str | None:
        """Returns a problem that only a new process can solve (runtime.liveness), or None."""
        if self._task is None or self._stopping:
            return None
        if self._task.done():
            return "its task has ended"
        if self._began is not None and time.monotonic() - self._began > self._step_timeout + END_TIMEOUT:
            return f"a step was broken off after {self._step_timeout:g} s and does not end"
        return None

    async def _run(self) -> None:
        while not self._stopping:
            try:
                await asyncio.sleep(0)  # lets other tasks run even if neither `wait` nor `step` ever waits
                await self._wait()
                self._began = time.monotonic()
                async with asyncio.timeout(self._step_timeout):
                    await self._step()
            except asyncio.CancelledError:
                # What the step awaited was cancelled: database drivers cancel their own tasks when a connection breaks.
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
        await asyncio.sleep(RETRY_PAUSE)


def _is_cancelled() -> bool:
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def start_task(
    work: Coroutine[Any, Any, None], running: set[asyncio.Task[None]], *, context: Context | None = None
) -> None:
    """Starts a task that nobody waits for, and keeps it in `running` until it is done: the loop itself holds tasks only
    weakly. `context` is the task's; by default a copy of the caller's."""
    task = asyncio.create_task(work, context=context)
    running.add(task)
    task.add_done_callback(running.discard)


def start_early(
    work: Coroutine[Any, Any, ResultT], *, name: str | None = None, context: Context | None = None
) -> asyncio.Task[ResultT]:
    """Starts a task before anybody waits for it. Its error is not logged if nobody awaits it."""
    task = asyncio.create_task(work, name=name, context=context)
    task.add_done_callback(ignore_failure)
    return task


def ignore_failure(task: asyncio.Future[Any]) -> None:
    """Marks a finished task's error as seen, since possibly nobody waits for it any more."""
    if not task.cancelled():
        task.exception()


async def finish(tasks: Collection[asyncio.Task[None]], seconds: float, *, patience: float = 1.0) -> None:
    """Waits for tasks. Those that are not done within `seconds`, and those added meanwhile, are cancelled, and have
    `patience` to end."""
    if tasks:
        await asyncio.wait(list(tasks), timeout=max(seconds, 0))
    late = [task for task in tasks if not task.done()]
    for task in late:
        task.cancel()
    if late:
        await asyncio.wait(late, timeout=patience)
