"""Deadlines: every request states how long its caller waits, so that no service works for a caller that has gone.

A request states how many milliseconds its caller waits, which is enough if it is read immediately. How long it lay
unread (at a paused server, in a queue) cannot be computed from the two wall clocks. So the caller adds the reading of
its monotonic clock, and the server compares the difference from its own clock with the smallest difference seen from
that caller; the excess is how long the request waited (decision 0035).

Nexus-Deadline: <ms that the caller waits> [<origin> <ms on the origin's clock>]
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextvars import Context, ContextVar, copy_context
from uuid import uuid4

from runtime.observability import correlation
from runtime.recent import Bounded

HEADER = "Nexus-Deadline"
PART_SHARE = 0.4
"""Share of the remaining time that one part of the work may take, so that a slow part leaves time to answer without
it."""
MAX_DRIFT = 0.001
"""Seconds per second by which two monotonic clocks may drift apart; real ones stay below a tenth of it."""
MAX_ORIGINS = 4096
"""Callers whose smallest difference is cached. A forgotten caller starts over, and its next request counts as not
late."""

_ends: ContextVar[float | None] = ContextVar("ends", default=None)


def time_left() -> float | None:
    """Returns the seconds that the current request's caller still waits; None if there is no request, or it has no
    deadline."""
    end = _ends.get()
    return None if end is None else max(end - time.monotonic(), 0.0)


def caller_has_gone() -> bool:
    """Whether the current request's caller has gone, so that nothing with effects may begin."""
    return time_left() == 0.0


def part_deadline(seconds: float) -> float:
    """Returns the deadline in seconds of one part of the work: at most `seconds`, and at most PART_SHARE of the current
    request's remaining time.

    Not for work that several requests share, which must not end with the first of them (runtime.calls.single_flight).
    """
    remaining = time_left()
    return seconds if remaining is None else min(seconds, PART_SHARE * remaining)


def last_part_deadline(seconds: float) -> float:
    """Returns the deadline in seconds of the last part of the work: at most `seconds`, and at most the current
    request's remaining time."""
    remaining = time_left()
    return seconds if remaining is None else min(seconds, remaining)


def serve_for(seconds: float) -> None:
    """Sets how long the caller waits, for this task and those that it starts."""
    _ends.set(time.monotonic() + seconds)


def detached_context() -> Context:
    """Returns a context for work that is not for the current request alone and must not end with it."""
    context = copy_context()
    context.run(_ends.set, None)
    context.run(correlation.forget)
    return context


class ClockOrigin:
    """The caller's side: a clock that servers compare with their own."""

    def __init__(self) -> None:
        self._name = ""
        self.renew()

    def renew(self) -> None:
        """Takes a new origin name, so that servers forget the clock difference that they have measured."""
        self._name = uuid4().hex[:12]

    def header(self, seconds: float) -> str:
        """Returns the header value for a request whose caller waits this many seconds."""
        return f"{max(int(seconds * 1000), 0)} {self._name} {int(time.monotonic() * 1000)}"


class Arrivals:
    """The server's side: computes how much of a request's deadline remains when it is read."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._smallest = Bounded[str, tuple[float, float]](MAX_ORIGINS)
        """The smallest clock difference, and when it was seen, by origin."""

    def left(self, headers: Mapping[str, str]) -> float | None:
        """Returns the seconds that the caller still waits, 0 or less if it has gone; None if the headers do not state
        it."""
        words = headers.get(HEADER, "").split()
        try:
            seconds = int(words[0]) / 1000
            waited = self._waited(words[1], int(words[2]) / 1000) if len(words) > 2 else 0.0
        except (IndexError, ValueError, OverflowError):
            return None
        return seconds - waited

    def _waited(self, origin: str, sent_at: float) -> float:
        now = self._clock()
        difference = now - sent_at
        smallest, noted_at = self._smallest.get(origin, (difference, now))
        # The clocks drift, so the smallest difference of an hour ago may be unreachable now.
        smallest = min(smallest + (now - noted_at) * MAX_DRIFT, difference)
        self._smallest[origin] = (smallest, now)
        return difference - smallest
