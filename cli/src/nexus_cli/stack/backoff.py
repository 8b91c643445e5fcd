"""How long to wait before a program that died is started again."""

from __future__ import annotations


class Backoff:
    """0.1 s, doubled with each death, at most 10 s; from the start again after a good while of service."""

    def __init__(self, first: float = 0.1, longest: float = 10.0, forgiven_after: float = 30.0) -> None:
        self._first = first
        self._longest = longest
        self._forgiven_after = forgiven_after
        self._next = first

    def after(self, served: float) -> float:
        """Seconds to wait after a run that served for `served` seconds."""
        if served >= self._forgiven_after:
            self._next = self._first
        wait = self._next
        self._next = min(self._next * 2, self._longest)
        return wait
