"""Decides how long to wait before a program that died is started again."""

from __future__ import annotations


class Backoff:
    """The wait before a restart: none after the first death, then 0.1 s, doubled with each, at most 10 s. After five
    seconds of service the next death counts as the first again."""

    def __init__(self, first: float = 0.1, longest: float = 10.0, forgiven_after: float = 5.0) -> None:
        self._first = first
        self._longest = longest
        self._forgiven_after = forgiven_after
        self._next = 0.0

    def after(self, served: float) -> float:
        """Seconds to wait after a run that served for `served` seconds."""
        if served >= self._forgiven_after:
            self._next = 0.0
        wait = self._next
        self._next = min(max(wait * 2, self._first), self._longest)
        return wait
