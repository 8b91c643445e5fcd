"""The sample market's clock: its current session, among the recorded ones or those that follow them.

It stands at the close of one session and moves to the close of the next. Everything that the sample market shows
(prices, calendar, expiry of orders) is from that moment or earlier. A replica's clock never goes back.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from datetime import date, datetime

BARS_BEFORE_END = 120
"""The clock starts this many sessions before the last recorded one."""

Following = Callable[[date], tuple[date, datetime]]
"""Returns the session after a day, and when it closes (UTC)."""


class SampleClock:
    """The position in the sessions, as one replica knows it."""

    def __init__(
        self,
        sessions: Sequence[date],
        closes: Sequence[datetime],
        *,
        at_end: bool = False,
        following: Following | None = None,
    ) -> None:
        """`sessions` are the exchange's dates in order, `closes` their closing times in UTC. `following` returns the
        sessions after them; without it the clock ends at the last one."""
        if not sessions or len(sessions) != len(closes):
            raise ValueError("the sample clock needs at least one session, and one closing time for each")
        self._sessions = list(sessions)
        self._closes = list(closes)
        self._following = following
        self.last_recorded = len(sessions) - 1
        self.index = self.last_recorded if at_end else max(0, self.last_recorded - BARS_BEFORE_END)

    @property
    def session(self) -> date:
        """The session that closed last, and the newest one that may be shown."""
        return self._sessions[self.index]

    @property
    def now(self) -> datetime:
        """The market's current time: the close of that session, in UTC."""
        return self._closes[self.index]

    @property
    def recorded_until(self) -> date:
        """The last recorded session."""
        return self._sessions[self.last_recorded]

    @property
    def replaying(self) -> bool:
        """Whether the recorded sessions are over, so that newer bars are replayed ones."""
        return self.index > self.last_recorded

    @property
    def ended(self) -> bool:
        """Whether there is no further session."""
        return self._following is None and self.index == self.last_recorded

    @property
    def next_session(self) -> date:
        """The session that closes next; the last one if there is none."""
        if not self.ended and self.index + 1 == len(self._sessions):
            self._grow()
        return self._sessions[min(self.index + 1, len(self._sessions) - 1)]

    def hours(self, index: int) -> tuple[date, datetime]:
        """A session that the clock has reached, by its index, and when it closed."""
        return self._sessions[index], self._closes[index]

    def first_from(self, day: date) -> int:
        """The index of the first session on that day or later."""
        return bisect_left(self._sessions, day)

    def move_to(self, session: date) -> bool:
        """Moves to a session, or to the newest one before it; returns False if the clock is already there or later."""
        while self._following is not None and self._sessions[-1] < session:
            self._grow()
        index = bisect_right(self._sessions, session) - 1
        if index <= self.index:
            return False
        self.index = index
        return True

    def _grow(self) -> None:
        if self._following is not None:
            day, close = self._following(self._sessions[-1])
            self._sessions.append(day)
            self._closes.append(close)
