"""Deadlines: every request says how long its caller waits, so that no service works for a caller who has gone.

A request says how many milliseconds its caller waits, which is enough while it is read at once. How long it lay unread
(in a server that was stopped, behind a queue) is told by neither side's wall clock: the caller adds the reading of its
monotonic clock, and the server compares the difference to its own with the smallest that it has seen of that caller.
What a difference is above the smallest, the request has waited (decision 0035).

    Nexus-Deadline: <ms that the caller waits> [<origin> <ms on the origin's clock>]
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar, copy_context
from uuid import uuid4

from runtime import correlation

HEADER = "Nexus-Deadline"
SHARE = 0.4
"""What a part of the work may take of the time that is left: one that is slow leaves room for an answer without it."""
DRIFT = 0.001
"""Seconds a second by which two monotonic clocks may part; real ones stay below a tenth of it."""
ORIGINS = 4096
"""Callers whose smallest difference is remembered; whoever is forgotten begins anew, with nothing taken for late."""

_ends: ContextVar[float | None] = ContextVar("ends", default=None)


def time_left() -> float | None:
    """Seconds that the caller of the request served here goes on waiting; None: no request, or it told no deadline."""
    end = _ends.get()
    return None if end is None else max(end - time.monotonic(), 0.0)


def passed() -> bool:
    """Whether the caller of the request served here has gone: what has effects must not begin then."""
    return time_left() == 0.0


def part(most: float) -> float:
    """The deadline in seconds of one part of the work: `most`, or SHARE of what is left of the request being served.

    Not for work that several requests share, which must not end with the first of them: runtime.single_flight.
    """
    left = time_left()
    return most if left is None else min(most, SHARE * left)


def within(most: float) -> float:
    """The deadline in seconds of work that nothing follows: `most`, or what is left of the request being served."""
    left = time_left()
    return most if left is None else min(most, left)


def serve_for(seconds: float) -> None:
    """Sets the seconds that the caller waits, for this task and those that it starts."""
    _ends.set(time.monotonic() + seconds)


def detached_context() -> Context:
    """The context of work that must not end with the request in which it is begun, and is not done for it alone."""
    context = copy_context()
    context.run(_ends.set, None)
    context.run(correlation.forget)
    return context


class ClockOrigin:
    """The calling side: one clock that servers compare with theirs."""

    def __init__(self) -> None:
        self._name = ""
        self.renew()

    def renew(self) -> None:
        """Takes a new name: servers forget what they have learned of this clock."""
        self._name = uuid4().hex[:12]

    def header(self, seconds: float) -> str:
        """The header's value for a request whose caller waits so long."""
        return f"{max(int(seconds * 1000), 0)} {self._name} {int(time.monotonic() * 1000)}"


class Arrivals:
    """The serving side: what is left of the requests' deadlines when they are read."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._smallest: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By origin: the difference of the clocks, and when it was noted."""

    def left(self, headers: Mapping[str, str]) -> float | None:
        """Seconds that the caller goes on waiting, 0 or less when it has gone; None: it does not say."""
        words = headers.get(HEADER, "").split()
        try:
            seconds = int(words[0]) / 1000
            waited = self._waited(words[1], int(words[2]) / 1000) if len(words) > 2 else 0.0
        except (IndexError, ValueError, OverflowError):
            return None
        return seconds - waited

    def _waited(self, origin: str, sent: float) -> float:
        now = self._clock()
        difference = now - sent
        smallest, noted = self._smallest.get(origin, (difference, now))
        # The clocks drift: what was the smallest an hour ago may be out of reach by now.
        smallest = min(smallest + (now - noted) * DRIFT, difference)
        self._smallest[origin] = (smallest, now)
        self._smallest.move_to_end(origin)
        if len(self._smallest) > ORIGINS:
            self._smallest.popitem(last=False)
        return difference - smallest
