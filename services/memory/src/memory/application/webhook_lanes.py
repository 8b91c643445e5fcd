"""A lane for each endpoint, so that none delays another: how many requests it gets concurrently, when it is paused, and
which of its facts come again, so that later ones about the same conversation wait for them.

Times are those of one clock, in seconds. The state is this process's; other replicas have their own.
"""

import asyncio
from bisect import bisect_left, insort
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
OVERDUE = 5.0
"""Seconds for which a fact that should have come again is still waited for: another replica may have it."""
LOOK_AGAIN = 0.2
"""The least seconds after which a fact that waits for an earlier one comes again."""
_FIRST_GUESS = 0.1


@dataclass(slots=True)
class _Turn:
    """Deliveries about one conversation or user: sent one after the other, in order of arrival."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    wanted: int = 0


@dataclass(slots=True)
class _Returning:
    """The facts about one conversation or user that were given back: their sequences in order, and when each comes
    again."""

    seqs: list[int] = field(default_factory=list[int])
    due: dict[int, float] = field(default_factory=dict[int, float])

    def add(self, seq: int, due: float) -> None:
        if seq not in self.due:
            insort(self.seqs, seq)
        self.due[seq] = due

    def remove(self, seq: int) -> None:
        if self.due.pop(seq, None) is not None:
            del self.seqs[bisect_left(self.seqs, seq)]

    def drop_overdue(self, now: float) -> None:
        while self.seqs and self.due[self.seqs[0]] + OVERDUE <= now:
            self.remove(self.seqs[0])

    def before(self, seq: int) -> int:
        """How many earlier ones come again."""
        return bisect_left(self.seqs, seq)


class Lane:
    """`failures` in a row; 0: it works, as far as known."""

    def __init__(self) -> None:
        self.failures = 0
        self.paused_until = 0.0
        self._turns: dict[str, _Turn] = {}
        self._returning: dict[str, _Returning] = {}
        self._places = asyncio.Semaphore(AT_ONCE)
        self._held = 0
        self._usual = _FIRST_GUESS
        self._line = 0.0

    def wait(self, now: float, about: str, seq: int) -> float:
        """Seconds for which a fact is given back; 0: it may stay. Those given back come back one after the other, at
        the endpoint's usual pace, those about the same conversation in order."""
        returning = self._returning.setdefault(about, _Returning())
        returning.drop_overdue(now)
        if before := returning.before(seq):
            due = max(returning.due[returning.seqs[0]], now + LOOK_AGAIN) + before * self._usual
        elif now < self.paused_until or self._held >= HELD:
            due = self._line = max(self._line, self.paused_until, now + SHORTEST_WAIT) + self._usual / AT_ONCE
        else:
            returning.remove(seq)
            if not returning.seqs:
                del self._returning[about]
            return 0.0
        returning.add(seq, due)
        return due - now

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
        """The endpoint failed: it is paused for 1 s, doubled with each failure, or for as long as it says (at least
        1 s)."""
        if now >= self.paused_until:
            self.failures += 1
        pause = min(2.0 ** (self.failures - 1), LONGEST_PAUSE) if retry_after is None else max(retry_after, 1.0)
        self.paused_until = max(self.paused_until, now + pause)
        for returning in self._returning.values():
            returning.drop_overdue(now)
        self._returning = {about: one for about, one in self._returning.items() if one.seqs}


class Lanes:
    """Lanes by endpoint; those of removed endpoints are dropped."""

    def __init__(self) -> None:
        self._lanes: dict[str, Lane] = {}

    def of(self, endpoint: str) -> Lane:
        return self._lanes.setdefault(endpoint, Lane())

    def forget(self, endpoint: str) -> None:
        self._lanes.pop(endpoint, None)
