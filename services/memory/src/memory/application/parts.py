"""Parts fetched at the same time, each with its own deadline; one that fails or is slow is named and left out."""

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

import structlog

from memory.metrics import CONTEXT_MISSING

PartT = TypeVar("PartT")

_log = structlog.get_logger(__name__)


class Parts:
    """The parts of one context. `missing` names those that are left out, in the order in which they failed."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._tasks: list[asyncio.Task[Any]] = []
        self.missing: list[str] = []

    def start(self, name: str, work: Awaitable[PartT], *, seconds: float | None = None) -> asyncio.Task[PartT | None]:
        """Begins; the task never raises. Its result is None when the part is left out.

        Args:
            name: as in the context's `missing`.
            seconds: the part's deadline, if it is not that of all.
        """
        task = asyncio.create_task(self._within(name, work, seconds or self._seconds), name=name)
        self._tasks.append(task)
        return task

    async def all(self) -> None:
        """Waits for every part; each ends by its own deadline."""
        try:
            await asyncio.gather(*self._tasks)
        finally:
            for task in self._tasks:
                task.cancel()

    async def _within(self, name: str, work: Awaitable[PartT], seconds: float) -> PartT | None:
        try:
            async with asyncio.timeout(seconds):
                return await work
        except TimeoutError:
            self.leave_out(name, f"not within {seconds:g} s")
        except Exception as error:
            # Whatever a dependency does, a turn goes on without it; that nobody answers sense is seen in the metric.
            self.leave_out(name, f"{error.__class__.__name__}: {error}"[:300])
        return None

    def leave_out(self, name: str, reason: str) -> None:
        """Names a part that is left out."""
        self.missing.append(name)
        CONTEXT_MISSING.labels(name).inc()
        _log.warning("a part of a context is left out", part=name, reason=reason)
