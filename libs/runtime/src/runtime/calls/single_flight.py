"""Shares one running piece of work among all callers that want its result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from runtime.calls.deadlines import detached_context

ResultT = TypeVar("ResultT")


class SingleFlight(Generic[ResultT]):
    """Callers with the same key share a running piece of work. It belongs to none of them: if one stops waiting, the
    others still get the result, and the work's deadline is not that of the first caller."""

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[ResultT]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Whether the key's work is running."""
        return key in self._running

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """Returns the result of the key's work, which is started unless it is running; raises what the work raises."""
        return await asyncio.shield(self.begin(key, work))

    def begin(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> asyncio.Task[ResultT]:
        """Returns the task of the key's work, which is started unless it is running. Callers must shield it when they
        await it."""
        task = self._running.get(key)
        if task is None:
            task = asyncio.create_task(work(), context=detached_context())
            self._running[key] = task
            task.add_done_callback(lambda done: self._on_done(key, done))
        return task

    def forget(self) -> None:
        """Forgets the running work: later callers start it again, present ones still get its result."""
        self._running.clear()

    def _on_done(self, key: Hashable, task: asyncio.Task[ResultT]) -> None:
        if self._running.get(key) is task:
            del self._running[key]
        if not task.cancelled():
            task.exception()  # marks the error as seen, in case nobody waits any more
