"""Fetches parts concurrently, each with its own deadline; one that fails or is slow is named and left out."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import structlog

from memory.metrics import CONTEXT_MISSING
from runtime.calls.deadlines import serve_for

PartT = TypeVar("PartT")

_log = structlog.get_logger(__name__)


class Parts:
    """The parts of one context; create it inside the running loop. `missing` names those left out.

    There are two deadlines, counted from now: `seconds`, and twice that for parts that depend on others. Two timers for
    all parts cost a fraction of a timeout each.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tasks: tuple[list[asyncio.Task[object]], list[asyncio.Task[object]]] = ([], [])
        self._late: set[asyncio.Task[object]] = set()
        loop = asyncio.get_running_loop()
        self._timers = (loop.call_later(seconds, self._end, 0), loop.call_later(2 * seconds, self._end, 1))
        self.missing: list[str] = []

    def start(self, name: str, work: Coroutine[Any, Any, PartT], *, waits: bool = False) -> asyncio.Task[PartT | None]:
        """Starts a part; the task never raises. Its result is None if the part is left out.

        Args:
            name: as in the context's `missing`.
            waits: it depends on other parts.
        """
        task = asyncio.create_task(self._named(name, work, self._seconds * (2 if waits else 1)))
        # Cancelled before its first step, it would complain that nobody awaited the work.
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

    def _end(self, which: int) -> None:
        for task in self._tasks[which]:
            if not task.done():
                self._late.add(task)
                task.cancel()

    async def _named(self, name: str, work: Coroutine[Any, Any, PartT], seconds: float) -> PartT | None:
        # Those who are asked learn how long the part waits, and work no longer than that for it.
        serve_for(seconds)
        try:
            return await work
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task not in self._late:
                raise
            task.uncancel()
            self.leave_out(name, f"not in time: a part has {self._seconds:g} s, twice that if it waits for others")
        except Exception as error:
            # Whatever a dependency does, the turn goes on without it; the metric shows how often.
            self.leave_out(name, f"{error.__class__.__name__}: {error}"[:300])
        return None
