"""One piece of work a key, for all who want its result at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from typing import Any, Generic, TypeVar

from runtime.deadlines import detached_context

ResultT = TypeVar("ResultT")


class SingleFlight(Generic[ResultT]):
    """Whoever comes while a key's work runs waits for the same result. The work belongs to none of them: who stops
    waiting takes nothing from the others, nor from who asks next, and its deadline is not that of the first."""

    def __init__(self) -> None:
        self._flying: dict[Hashable, asyncio.Task[ResultT]] = {}

    async def result(self, key: Hashable, work: Callable[[], Coroutine[Any, Any, ResultT]]) -> ResultT:
        """The result of the key's work, begun now unless it is under way; raises what it raises."""
        task = self._flying.get(key)
        if task is None:
            task = asyncio.create_task(work(), context=detached_context())
            self._flying[key] = task
            task.add_done_callback(lambda done: self._landed(key, done))
        return await asyncio.shield(task)

    def forget(self) -> None:
        """Whoever asks from now on begins anew; who waits already gets what was begun."""
        self._flying.clear()

    def _landed(self, key: Hashable, task: asyncio.Task[ResultT]) -> None:
        if self._flying.get(key) is task:
            del self._flying[key]
        if not task.cancelled():
            task.exception()  # perhaps nobody waits any more: then it is nobody's
