"""Limits how many things somebody does at the same time."""

from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager

from gateway.errors import RateLimitedError


class ConcurrencyLimit:
    """Limits how much runs at once for each key; one more is refused immediately."""

    def __init__(self, most: int, refusal: str) -> None:
        self._most = most
        self._refusal = refusal
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def one_more(self, whose: Hashable) -> Generator[None]:
        """Counts one while the block lasts; raises RateLimitedError."""
        if self._running[whose] >= self._most:
            raise RateLimitedError(self._refusal, 1.0)
        self._running[whose] += 1
        try:
            yield
        finally:
            self._running[whose] -= 1
            if not self._running[whose]:
                del self._running[whose]
