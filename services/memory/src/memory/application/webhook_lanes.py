"""A lane for each endpoint, so that none delays another. It limits concurrent requests, pauses a failing endpoint, and
remembers which facts were given back, so that later facts about the same conversation wait for them.

Times are those of one clock, in seconds. The state belongs to this process; other replicas have their own.
"""

import asyncio
from bisect import bisect_left, insort
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

CONCURRENCY = 4
"""Concurrent requests to one endpoint."""
MAX_ACCEPTED = 32
"""Facts of one endpoint that this process sends or keeps waiting; more are given back to the bus for a while."""
MAX_PAUSE_SECONDS = 300.0
"""The longest pause of an endpoint that keeps failing."""
MIN_WAIT_SECONDS = 0.05
"""A delivery that finds its lane full comes again after this time at the earliest."""
OVERDUE_SECONDS = 5.0
"""How long others still wait for a fact that should have come again: another replica may have it."""
ORDER_WAIT_SECONDS = 0.2
"""A fact that waits for an earlier one comes again after this time at the earliest."""
_FIRST_DURATION_SECONDS = 0.1
"""The assumed duration of a request before an endpoint's first one."""


@dataclass(slots=True)
class _Turn:
    """Deliveries about one conversation or user: sent one after another, in order of arrival."""

    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


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
        while self.seqs and self.due[self.seqs[0]] + OVERDUE_SECONDS <= now:
            self.remove(self.seqs[0])

    def before(self, seq: int) -> int:
        """Counts the earlier facts that come again."""
        return bisect_left(self.seqs, seq)


class Lane:
    """The lane of one endpoint. `failures` in a row; 0 if it works as far as known."""

    def __init__(self) -> None:
        self.failures = 0
        self.paused_until = 0.0
        self._turns: dict[str, _Turn] = {}
        self._returning: dict[str, _Returning] = {}
        self._slots = asyncio.Semaphore(CONCURRENCY)
        self._accepted = 0
        self._usual_duration = _FIRST_DURATION_SECONDS
        self._next_slot = 0.0

    def wait(self, now: float, subject: str, seq: int) -> float:
        """Seconds for which a fact must be given back to the bus; 0 if it may be sent. Facts given back come again one
        after another at the endpoint's usual pace, those about the same conversation in order."""
        returning = self._returning.setdefault(subject, _Returning())
        returning.drop_overdue(now)
        if earlier := returning.before(seq):
            due = max(returning.due[returning.seqs[0]], now + ORDER_WAIT_SECONDS) + earlier * self._usual_duration
        elif now < self.paused_until or self._accepted >= MAX_ACCEPTED:
            due = self._next_slot = (
                max(self._next_slot, self.paused_until, now + MIN_WAIT_SECONDS) + self._usual_duration / CONCURRENCY
            )
        else:
            returning.remove(seq)
            if not returning.seqs:
                del self._returning[subject]
            return 0.0
        returning.add(seq, due)
        return due - now

    @asynccontextmanager
    async def place(self, subject: str) -> AsyncGenerator[None]:
        """Waits for this fact's turn and a free slot, and holds them inside the block."""
        turn = self._turns.setdefault(subject, _Turn())
        turn.users += 1
        self._accepted += 1
        try:
            async with turn.lock, self._slots:
                yield
        finally:
            self._accepted -= 1
            turn.users -= 1
            if not turn.users:
                del self._turns[subject]

    def took(self, seconds: float) -> None:
        self._usual_duration += (seconds - self._usual_duration) / 8

    def succeeded(self) -> None:
        self.failures = 0
        self.paused_until = 0.0

    def failed(self, now: float, retry_after: float | None) -> None:
        """Pauses an endpoint that failed: for 1 s, doubled with each failure, or for as long as it asks (at least 1
        s)."""
        if now >= self.paused_until:
            self.failures += 1
        pause = min(2.0 ** (self.failures - 1), MAX_PAUSE_SECONDS) if retry_after is None else max(retry_after, 1.0)
        self.paused_until = max(self.paused_until, now + pause)
        for returning in self._returning.values():
            returning.drop_overdue(now)
        self._returning = {subject: entry for subject, entry in self._returning.items() if entry.seqs}
