"""A deadline for receiving something."""

import asyncio
from collections.abc import Callable

GRACE_SECONDS = 0.2
"""Seconds to read data that arrived while the process was paused beyond the deadline."""


class ReadDeadline:
    """Calls `end` if nothing has arrived within this many seconds; cancel it once something has.

    uvloop runs timers before it reads, so a process that was paused would refuse data that came in time.
    """

    def __init__(self, seconds: float, end: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = end
        self._arm(seconds)

    def cancel(self) -> None:
        """Ends the wait: the data has arrived, or nobody waits for it any more."""
        self._handle.cancel()

    def _arm(self, seconds: float) -> None:
        self._due = self._loop.time() + seconds
        self._handle = self._loop.call_later(seconds, self._on_timer)

    def _on_timer(self) -> None:
        if self._loop.time() > self._due + GRACE_SECONDS:
            self._arm(GRACE_SECONDS)
        else:
            self._end()
