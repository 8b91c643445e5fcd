"""Price alerts: each fires once, on new market data, and is then inactive.

A bar makes a condition true if any price in it does: >= if its high reaches the level, <= if its low does, == if the
price touches or crosses the level, also in the gap between two bars. The price at which an alert fires is the level, or
the open if the market had jumped beyond it.
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
    the last price that it has processed. `announced`: the bus has the fact. `told`: the user has been told in the
    chat."""

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
    """The alert after these bars: it fires at the first bar that makes its condition true. Its level follows splits."""
    all_splits = tuple(splits)
    for bar in bars:
        if alert.state is not AlertState.ACTIVE:
            break
        if bar.time < alert.seen_until:
            continue
        ratio = adjustment(all_splits, alert.session, bar.session)
        if ratio != 1:
            price, last = scale_price(alert.price, ratio), scale_price(alert.last, ratio)
            alert = replace(alert, price=price, last=last, session=bar.session)
        alert = replace(alert, seen_until=bar.end)
        fired_price = _fired_price(alert, bar)
        if fired_price is not None:
            return replace(
                alert, state=AlertState.TRIGGERED, triggered_price=fired_price, triggered_at=bar.end, last=bar.close
            )
        alert = replace(alert, last=bar.close)
    return alert


def _fired_price(alert: Alert, bar: Bar) -> Decimal | None:
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
