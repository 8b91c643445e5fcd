"""The wait before a program that ended is started again."""

from __future__ import annotations


class Backoff:
    """Computes the wait before a restart: none after the first failure, then 0.1 s, doubled each time, at most 10 s.
    After five seconds of service the next failure counts as the first again."""

    def __init__(self, first_wait: float = 0.1, longest_wait: float = 10.0, reset_after: float = 5.0) -> None:
        self._first_wait = first_wait
        self._longest_wait = longest_wait
        self._reset_after = reset_after
        self._next = 0.0

    def wait_after(self, served_seconds: float) -> float:
        """Seconds to wait after a run that served for `served_seconds` seconds."""
        if served_seconds >= self._reset_after:
            self._next = 0.0
        wait = self._next
        self._next = min(max(wait * 2, self._first_wait), self._longest_wait)
        return wait
