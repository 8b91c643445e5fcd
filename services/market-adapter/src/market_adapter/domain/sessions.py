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
    """One trading day, all times UTC: from `pre` orders are taken before the opening, until `post` after the close."""

    day: date
    pre: datetime
    opens: datetime
    closes: datetime
    post: datetime
    early_close: bool


@dataclass(frozen=True, slots=True)
class MarketState:
    """The state of the market at a moment: its status, and the next opening and close after it."""

    status: MarketStatus
    next_open: datetime
    next_close: datetime
    early_close: bool


def state_at(now: datetime, sessions: Sequence[TradingSession]) -> MarketState:
    """The state, from sessions in order that reach from before `now` to at least two after it. A bound belongs to what
    begins there: at the very close the market is in after-hours. Raises ValueError when the sessions end too soon."""
    opening = next((one for one in sessions if one.opens > now), None)
    closing = next((one for one in sessions if one.closes > now), None)
    if opening is None or closing is None:
        raise ValueError(f"the calendar ends before {now}: ask it for more days")
    status = MarketStatus.CLOSED
    for one in sessions:
        if one.opens <= now < one.closes:
            status = MarketStatus.OPEN
        elif one.pre <= now < one.opens:
            status = MarketStatus.PRE_MARKET
        elif one.closes <= now < one.post:
            status = MarketStatus.AFTER_HOURS
    return MarketState(status, opening.opens, closing.closes, closing.early_close)
