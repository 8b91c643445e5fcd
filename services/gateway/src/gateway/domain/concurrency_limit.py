"""Limits how many operations of one kind run at the same time."""

from collections import Counter
from collections.abc import Generator, Hashable
from contextlib import contextmanager

from gateway.errors import RateLimitedError


class ConcurrencyLimit:
    """Limits how many operations run at once for each key; one more is refused immediately."""

    def __init__(self, limit: int, refusal: str) -> None:
        self._limit = limit
        self._refusal = refusal
        self._running: Counter[Hashable] = Counter()

    @contextmanager
    def slot(self, key: Hashable) -> Generator[None]:
        """Counts an operation while the context lasts; raises RateLimitedError if there are too many."""
        if self._running[key] >= self._limit:
            raise RateLimitedError(self._refusal, 1.0)
        self._running[key] += 1
        try:
            yield
        finally:
            self._running[key] -= 1
            if not self._running[key]:
                del self._running[key]
