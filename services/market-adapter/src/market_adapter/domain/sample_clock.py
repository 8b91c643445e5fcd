"""The sample market's clock: which of the recorded sessions has just closed.

It stands at the close of one session and moves to the close of the next. Everything that the sample market shows is
from that moment or before: prices, calendar, order expiry. A replica's clock never goes back.
"""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import date, datetime

BARS_BEFORE_END = 120
"""Where the clock starts: so many sessions before the last one."""


class SampleClock:
    """The position in the recorded sessions, as one replica knows it."""

    def __init__(self, sessions: Sequence[date], closes: Sequence[datetime], *, at_end: bool = False) -> None:
        """`sessions` are the exchange's dates in order, `closes` their closing times in UTC."""
        if not sessions or len(sessions) != len(closes):
            raise ValueError("the sample clock needs at least one session, and one closing time for each")
        self._sessions = sessions
        self._closes = closes
        self.last_index = len(sessions) - 1
        self.index = self.last_index if at_end else max(0, self.last_index - BARS_BEFORE_END)

    @property
    def session(self) -> date:
        """The session that closed last: the newest one that may be shown."""
        return self._sessions[self.index]

    @property
    def now(self) -> datetime:
        """The market's present: the close of that session, UTC."""
        return self._closes[self.index]

    @property
    def ended(self) -> bool:
        """There is no further session."""
        return self.index == self.last_index

    @property
    def next_session(self) -> date:
        """The session that closes next; the last one when there is none."""
        return self._sessions[min(self.index + 1, self.last_index)]

    def move_to(self, session: date) -> bool:
        """Moves on to a session, or to the newest one before it; False when the clock is already there or past it."""
        index = bisect_right(self._sessions, session) - 1
        if index <= self.index:
            return False
        self.index = index
        return True
