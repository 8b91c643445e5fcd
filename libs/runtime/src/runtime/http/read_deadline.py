"""A deadline for receiving something."""

import asyncio
from collections.abc import Callable

GRACE = 0.2
"""Seconds for reading what has arrived, after the process was paused beyond the deadline."""


class ReadDeadline:
    """Calls back if nothing has arrived within this many seconds; cancel it once it has.

    uvloop runs timers before it reads, so a process that was paused would refuse what had been sent in time.
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
        self._handle = self._loop.call_later(seconds, self._pass)

    def _pass(self) -> None:
        if self._loop.time() > self._due + GRACE:
            self._arm(GRACE)
        else:
            self._end()
