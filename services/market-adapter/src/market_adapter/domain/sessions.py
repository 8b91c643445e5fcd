"""The exchange's sessions, and the state of the market at a moment."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum


class MarketStatus(StrEnum):
    """The states of a market."""

    OPEN = "open"
    CLOSED = "closed"
    PRE_MARKET = "pre_market"
    AFTER_HOURS = "after_hours"


@dataclass(frozen=True, slots=True)
class TradingSession:
    """One trading day, all times in UTC. Pre-market trading begins at `pre`, after-hours trading ends at `post`."""

    day: date
    pre: datetime
    opens: datetime
    closes: datetime
    post: datetime
    early_close: bool


@dataclass(frozen=True, slots=True)
class SessionState:
    """The state of the market at a moment: its status, and the next opening and close after it."""

    status: MarketStatus
    next_open: datetime
    next_close: datetime
    early_close: bool


def state_at(now: datetime, sessions: Sequence[TradingSession]) -> SessionState:
    """The market's state at `now`. `sessions` are in order and reach from before `now` to at least two sessions after
    it. A boundary belongs to what begins there: at the exact close the market is in after-hours. Raises ValueError if
    the sessions end too soon."""
    opening = next((session for session in sessions if session.opens > now), None)
    closing = next((session for session in sessions if session.closes > now), None)
    if opening is None or closing is None:
        raise ValueError(f"the calendar ends before {now}: ask it for more days")
    status = MarketStatus.CLOSED
    for session in sessions:
        if session.opens <= now < session.closes:
            status = MarketStatus.OPEN
        elif session.pre <= now < session.opens:
            status = MarketStatus.PRE_MARKET
        elif session.closes <= now < session.post:
            status = MarketStatus.AFTER_HOURS
    return SessionState(status, opening.opens, closing.closes, closing.early_close)
