"""Fetches parts of a context concurrently; a part that fails or misses its deadline is left out and named."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

from memory.metrics import CONTEXT_MISSING
from runtime.calls.deadlines import serve_for

PartT = TypeVar("PartT")

_log = structlog.get_logger(__name__)


class Parts:
    """The parts of one context; to be created inside the running loop. `missing` names those left out.

    There are two deadlines, counted from now: `seconds`, and twice that for parts that wait for others. Two timers for
    all parts cost a fraction of one timeout per part.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tasks: tuple[list[asyncio.Task[object]], list[asyncio.Task[object]]] = ([], [])
        self._expired: set[asyncio.Task[object]] = set()
        loop = asyncio.get_running_loop()
        self._timers = (loop.call_later(seconds, self._expire, 0), loop.call_later(2 * seconds, self._expire, 1))
        self.missing: list[str] = []

    def start(self, name: str, work: Coroutine[Any, Any, PartT], *, waits: bool = False) -> asyncio.Task[PartT | None]:
        """Starts a part; the task never raises. Its result is None if the part is left out.

        Args:
            name: as in the context's `missing`.
            waits: it depends on other parts.
        """
        task = asyncio.create_task(self._run(name, work, self._seconds * (2 if waits else 1)))
        # If it is cancelled before its first step, Python would warn that `work` was never awaited.
        task.add_done_callback(lambda _: work.close())
        self._tasks[waits].append(task)
        return task

    async def all(self) -> None:
        """Waits for every started part; each ends by its deadline."""
        try:
            await asyncio.gather(*self._tasks[0], *self._tasks[1])
        finally:
            for timer in self._timers:
                timer.cancel()
            for task in (*self._tasks[0], *self._tasks[1]):
                task.cancel()

    def leave_out(self, name: str, reason: str) -> None:
        self.missing.append(name)
        CONTEXT_MISSING.labels(name).inc()
        _log.warning("a part of a context is left out", part=name, reason=reason)

    def _expire(self, group: int) -> None:
        for task in self._tasks[group]:
            if not task.done():
                self._expired.add(task)
                task.cancel()

    async def _run(self, name: str, work: Coroutine[Any, Any, PartT], seconds: float) -> PartT | None:
        # Calls made for this part carry its deadline, so that nobody works longer than that for it.
        serve_for(seconds)
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task not in self._expired:
                raise
            task.uncancel()
            self.leave_out(name, f"not in time: a part has {self._seconds:g} s, twice that if it waits for others")
        except Exception as error:
            # Whatever the error is, the turn goes on without the part; the metric shows how often.
            self.leave_out(name, f"{error.__class__.__name__}: {error}"[:300])
        return None
