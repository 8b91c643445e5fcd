"""Limits how much of the log one company may fill, so that it cannot fill it for everyone.

A company's limit, for what it writes within the minimum age of facts, is a share of the log's free space. The fuller
the log, the lower the limit; the company that writes most is refused first, and others keep room. Each gateway counts
everything that is stored, since it sees every fact, from its own start on.
"""

from collections import Counter, deque
from collections.abc import Awaitable, Callable

from gateway.errors import RateLimitedError
from runtime.clock import Clock

HOUR = 3_600.0
HOURS = 25
"""Memory never trims facts younger than a day."""
UNCOUNTED = 1024 * 1024
"""Bytes that any company may write, however little is free."""
AGAIN = 60.0


class CompanyShares:
    """Counts bytes by company and hour. `share`: the part of the log that one company may fill, between 0 and 1."""

    def __init__(self, room: Callable[[], Awaitable[int | None]], share: float, clock: Clock) -> None:
        self._room = room
        self._factor = share / (1 - share)
        self._clock = clock
        self._hours: deque[tuple[int, Counter[str]]] = deque()
        self._written: Counter[str] = Counter()

    def count_write(self, company: str, size: int) -> None:
        """A fact of the company was stored, by any gateway or agent."""
        self._forget()
        self._hours[-1][1][company] += size
        self._written[company] += size

    async def admit(self, company: str) -> None:
        """Raises RateLimitedError while the company exceeds its share."""
        self._forget()
        written = self._written[company]
        if written <= UNCOUNTED:
            return
        room = await self._room()
        if room is not None and written > room * self._factor:
            raise RateLimitedError("the company has filled its share of the log: try again later", AGAIN)

    def _forget(self) -> None:
        hour = int(self._clock.monotonic() // HOUR)
        if not self._hours or self._hours[-1][0] != hour:
            self._hours.append((hour, Counter()))
        while self._hours[0][0] <= hour - HOURS:
            self._written -= self._hours.popleft()[1]
