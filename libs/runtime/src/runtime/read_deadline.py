"""A deadline for what somebody else sends."""

import asyncio
from collections.abc import Callable

GRACE = 0.2
"""Seconds in which what has come is read, after the process has stood still over the deadline."""


class ReadDeadline:
    """Does something when nothing has come in so many seconds; cancel it when it has.

    uvloop runs what is due before it reads: a process that stood still would refuse what was sent meanwhile, in time.
    """

    def __init__(self, seconds: float, end: Callable[[], object]) -> None:
        self._loop = asyncio.get_running_loop()
        self._end = end
        self._arm(seconds)

    def cancel(self) -> None:
        """It has come, or nobody waits any more."""
        self._handle.cancel()

    def _arm(self, seconds: float) -> None:
        self._due = self._loop.time() + seconds
        self._handle = self._loop.call_later(seconds, self._pass)

    def _pass(self) -> None:
        if self._loop.time() > self._due + GRACE:
            self._arm(GRACE)
        else:
            self._end()
