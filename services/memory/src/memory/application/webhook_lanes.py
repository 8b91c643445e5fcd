"""A lane for each endpoint, so that none delays another: how many requests it gets concurrently, and when it is paused.

Times are those of one clock, in seconds. The state is this process's; other replicas have their own.
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

AT_ONCE = 4
"""Concurrent requests to one endpoint."""
HELD = 32
"""Facts of one endpoint in this process, being sent or next; more are given back to the bus for a while."""
LONGEST_PAUSE = 300.0
"""The longest pause of an endpoint that keeps failing, in seconds."""
SHORTEST_WAIT = 0.05
"""The least seconds after which a delivery that finds its lane full comes again."""
_FIRST_GUESS = 0.1


@dataclass(slots=True)
class _Turn:
    """Deliveries about one conversation or user: sent one after the other, in order of arrival."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0


class Lane:
    """`failures` in a row; 0: it works, as far as known."""

    def __init__(self) -> None:
        self.failures = 0
        self.paused_until = 0.0
        self._turns: dict[str, _Turn] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._held = 0
        self._usual = _FIRST_GUESS
        self._line = 0.0

    def wait(self, now: float) -> float:
        """Seconds for which a fact is given back; 0: it may stay. Each one given back gets a place in the queue, at
        the endpoint's usual pace, so that they come back one after the other in order."""
        if now >= self.paused_until and self._held < HELD:
            return 0.0
        self._line = max(self._line, self.paused_until, now + SHORTEST_WAIT) + self._usual / AT_ONCE
        return self._line - now

    @asynccontextmanager
    async def place(self, about: str) -> AsyncGenerator[None]:
        """A place among those sent concurrently, when it is this one's turn."""
        turn = self._turns.setdefault(about, _Turn())
        turn.wanted += 1
        self._held += 1
        try:
            async with turn.lock, self._places:
                yield
        finally:
            self._held -= 1
            turn.wanted -= 1
            if not turn.wanted:
                del self._turns[about]

    def took(self, seconds: float) -> None:
        self._usual += (seconds - self._usual) / 8

    def succeeded(self) -> None:
        self.failures = 0
        self.paused_until = 0.0

    def failed(self, now: float, retry_after: float | None) -> None:
        """The endpoint failed: it is paused for 1 s, doubled with each failure, or for as long as it says."""
        if now >= self.paused_until:
            self.failures += 1
        pause = min(2.0 ** (self.failures - 1), LONGEST_PAUSE) if retry_after is None else retry_after
        self.paused_until = max(self.paused_until, now + pause)


class Lanes:
    """Lanes by endpoint; those of removed endpoints are dropped."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}

    def of(self, endpoint: str) -> Lane:
        return self._lanes.setdefault(endpoint, Lane())

    def forget(self, endpoint: str) -> None:
        self._lanes.pop(endpoint, None)
