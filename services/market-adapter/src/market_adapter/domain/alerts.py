"""Price alerts: each fires once, on new market data, and is then inactive.

A bar makes a condition true when any price in it does: >= when its high reaches the level, <= when its low does, ==
when the price touches the level or crosses it, also in the gap between two bars. The price at which it fired is the
level, or the open when the market had jumped beyond it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from enum import StrEnum

from contracts.tools.account import Condition
from market_adapter.domain.bars import Bar, Split
from market_adapter.domain.paper.account import Owner
from market_adapter.domain.splits import adjustment, scale_price


class AlertState(StrEnum):
    """The states of an alert."""

    ACTIVE = "active"
    TRIGGERED = "triggered"
    DELETED = "deleted"


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. `price` is in shares of `session`; bars that opened at `seen_until` or later are new to it; `last` is
    the last price that it has seen. `announced`: the bus has the fact. `told`: the user has been told in the chat."""

    id: str
    owner: Owner
    symbol: str
    condition: Condition
    price: Decimal
    created_at: datetime
    seen_until: datetime
    session: date
    last: Decimal
    message: str | None = None
    conversation: str | None = None
    state: AlertState = AlertState.ACTIVE
    triggered_price: Decimal | None = None
    triggered_at: datetime | None = None
    announced: bool = False
    told: bool = False

    def holds_at(self, price: Decimal) -> bool:
        """Whether the condition is true at this price."""
        match self.condition:
            case Condition.AT_LEAST:
                return price >= self.price
            case Condition.AT_MOST:
                return price <= self.price
            case Condition.CROSSES:
                return price == self.price


def watch(alert: Alert, bars: Iterable[Bar], splits: Iterable[Split]) -> Alert:
    """The alert after these bars: fired at the first that makes its condition true. Its level follows splits."""
    known = tuple(splits)
    for bar in bars:
        if alert.state is not AlertState.ACTIVE:
            break
        if bar.time < alert.seen_until:
            continue
        ratio = adjustment(known, alert.session, bar.session)
        if ratio != 1:
            price, last = scale_price(alert.price, ratio), scale_price(alert.last, ratio)
            alert = replace(alert, price=price, last=last, session=bar.session)
        alert = replace(alert, seen_until=bar.end)
        at = _fires_at(alert, bar)
        if at is not None:
            return replace(alert, state=AlertState.TRIGGERED, triggered_price=at, triggered_at=bar.end, last=bar.close)
        alert = replace(alert, last=bar.close)
    return alert


def _fires_at(alert: Alert, bar: Bar) -> Decimal | None:
    level = alert.price
    match alert.condition:
        case Condition.AT_LEAST:
            return max(level, bar.open) if bar.high >= level else None
        case Condition.AT_MOST:
            return min(level, bar.open) if bar.low <= level else None
        case Condition.CROSSES:
            if bar.low <= level <= bar.high:
                return level
            jumped = alert.last < level < bar.open or alert.last > level > bar.open
            return bar.open if jumped else None
