"""Limits how much of the log one company may fill, so that it cannot fill it for everyone.

The limit for what a company writes within the minimum age of facts is a share of the log's free space. The fuller the
log, the lower the limit; the company that writes most is refused first, and others keep space. Each gateway sees every
fact, so it counts all that is stored from its own start on.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable

from gateway.errors import RateLimitedError
from runtime.clock import Clock

HOUR = 3_600.0
COUNTED_HOURS = 25
"""Hours whose writes are counted; memory never trims facts younger than a day."""
ALWAYS_ALLOWED_BYTES = 1024 * 1024
"""Bytes that every company may write, however little space is free."""
RETRY_AFTER_SECONDS = 60.0
"""Seconds after which a company that has filled its share may try again."""


class CompanyShares:
    """Counts bytes by company and hour. `share`: the part of the log that one company may fill, between 0 and 1."""

    def __init__(self, free_bytes: Callable[[], Awaitable[int | None]], share: float, clock: Clock) -> None:
        self._free_bytes = free_bytes
        self._factor = share / (1 - share)
        self._clock = clock
        self._hours: deque[tuple[int, Counter[str]]] = deque()
        self._written: Counter[str] = Counter()

    def count_write(self, company: str, size: int) -> None:
        """Counts a fact of the company, `size` bytes, that any gateway or agent has stored."""
        self._forget()
        self._hours[-1][1][company] += size
        self._written[company] += size

    async def admit(self, company: str) -> None:
        """Raises RateLimitedError while the company exceeds its share."""
        self._forget()
        written = self._written[company]
        if written <= ALWAYS_ALLOWED_BYTES:
            return
        free_bytes = await self._free_bytes()
        if free_bytes is not None and written > free_bytes * self._factor:
            raise RateLimitedError("the company has filled its share of the log: try again later", RETRY_AFTER_SECONDS)

    def _forget(self) -> None:
        hour = int(self._clock.monotonic() // HOUR)
        if not self._hours or self._hours[-1][0] != hour:
            self._hours.append((hour, Counter()))
        while self._hours[0][0] <= hour - COUNTED_HOURS:
            self._written -= self._hours.popleft()[1]
