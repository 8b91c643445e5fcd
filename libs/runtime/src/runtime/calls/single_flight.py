"""Shares one piece of work among all who want its result at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from runtime.calls.deadlines import detached_context

ResultT = TypeVar("ResultT")


class SingleFlight(Generic[ResultT]):
    """Callers with the same key share a running piece of work. It belongs to none of them: one that stops waiting
    takes nothing from the others or from later ones, and the work's deadline is not that of the first."""

    def __init__(self) -> None:
        self._flying: dict[Hashable, asyncio.Task[ResultT]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether the key's work is running."""
        return key in self._flying

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """The result of the key's work, started now unless it is running; raises what it raises."""
        return await asyncio.shield(self.begin(key, work))

    def begin(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> asyncio.Task[ResultT]:
        """The key's work, started now unless it is running. Whoever awaits the task must shield it."""
        task = self._flying.get(key)
        if task is None:
            task = asyncio.create_task(work(), context=detached_context())
            self._flying[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return task

    def forget(self) -> None:
        """Later callers start the work again; present ones get the running one's result."""
        self._flying.clear()

    def _landed(self, key: Hashable, task: asyncio.Task[ResultT]) -> None:
        if self._flying.get(key) is task:
            del self._flying[key]
        if not task.cancelled():
            task.exception()  # perhaps nobody waits any more: then it is nobody's
