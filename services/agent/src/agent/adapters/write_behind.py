"""Publishes facts in the background: nobody waits for them, and failures are counted."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from prometheus_client import Counter

from runtime.errors import PublishFailedError

log = structlog.get_logger(__name__)


class WriteBehind:
    """Publishes facts in the background, at most `most` at once. `lost` counts those beyond, and those that the bus did
    not take."""

    def __init__(self, name: str, most: int, lost: Counter) -> None:
        self._name = name
        self._most = most
        self._lost = lost
        self._tasks: set[asyncio.Task[None]] = set()

    def write(self, writing: Callable[[], Awaitable[object]], **about: str | None) -> bool:
        """Begins to publish one fact; False: it is lost. `about`: fields of the log entry if it is lost later."""
        if len(self._tasks) >= self._most:
            self._lost.inc()
            return False
        task = asyncio.create_task(self._write(writing, about))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return True

    async def flush(self, deadline: float) -> None:
        """Waits for facts that are being published, at most so many seconds; the rest is lost."""
        if not self._tasks:
            return
        _, late = await asyncio.wait(self._tasks, timeout=deadline)
        for task in late:
            self._lost.inc()
            task.cancel()

    async def _write(self, writing: Callable[[], Awaitable[object]], about: dict[str, str | None]) -> None:
        try:
            await writing()
        except PublishFailedError as error:
            self._lost.inc()
            log.warning("fact.lost", fact=self._name, reason=str(error), **about)
