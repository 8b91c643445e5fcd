"""Publishes facts in the background: nothing waits for them, and lost facts are counted."""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from prometheus_client import Counter

from runtime.background import start_task
from runtime.errors import PublishFailedError

log = structlog.get_logger(__name__)


class WriteBehind:
    """Publishes facts in the background, at most `most` at once. `lost` counts those beyond, and those that the bus did
    not take."""

    def __init__(self, name: str, max_running: int, lost: Counter) -> None:
        self._name = name
        self._max_running = max_running
        self._lost = lost
        self._tasks: set[asyncio.Task[None]] = set()

    def write(self, publish: Callable[[], Awaitable[object]], **log_fields: str | None) -> bool:
        """Starts to publish one fact; returns False if the fact is lost. `log_fields`: for the log entry if it is lost
        later."""
        if len(self._tasks) >= self._max_running:
            self._lost.inc()
            return False
        start_task(self._write(publish, log_fields), self._tasks)
        return True

    async def flush(self, deadline: float) -> None:
        """Waits for the facts being published, at most `deadline` seconds; the rest is lost."""
        if not self._tasks:
            return
        _, unfinished = await asyncio.wait(self._tasks, timeout=deadline)
        for task in unfinished:
            self._lost.inc()
            task.cancel()

    async def _write(self, publish: Callable[[], Awaitable[object]], log_fields: dict[str, str | None]) -> None:
        try:
            await publish()
        except PublishFailedError as error:
            self._lost.inc()
            log.warning("fact.lost", fact=self._name, reason=str(error), **log_fields)
