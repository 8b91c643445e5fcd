"""How a bar fills an order. The rules are those of published bar simulators, in their less favourable reading.

    market       at the bar's open: the next price after the order was placed
    limit        needs trade-through: the price must go beyond the limit, a touch is not enough; it fills at the limit,
                 or at the open if that is already better (a favourable gap)
    stop         triggers at a touch; it fills at the stop, or at the open if that is already beyond it (a gap)
    stop_limit   triggers at a touch; the bar that triggers it fills it only if the close is inside the limit, at the
                 worst price of the bar that the limit allows; later bars treat it as a resting limit order

Never the bar in which the order was placed: the caller only passes later ones. A bar without trades fills nothing, and
no order takes more than a tenth of a bar's volume. If one bar reaches both, stops are filled before targets.
Source of the stop-limit rule: QuantConnect LEAN's EquityFillModel.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_DOWN, Decimal

from contracts.tools.account import OrderType, Side
from market_adapter.domain.bars import Bar
from market_adapter.domain.paper.orders import LOT, Order

MAX_VOLUME_SHARE = Decimal("0.1")
RANK_BY_TYPE = {OrderType.MARKET: 0, OrderType.STOP: 1, OrderType.STOP_LIMIT: 1, OrderType.LIMIT: 2}
"""Orders are processed in this order within a bar: those at the open first, stops before targets."""


def rank_in_bar(order: Order) -> tuple[int, datetime, str]:
    """The sort key by which a symbol's orders are processed within a bar."""
    return RANK_BY_TYPE[order.type], order.created_at, order.id


@dataclass(frozen=True, slots=True)
class Match:
    """The effect of a bar on an order. `price` None: no fill; `triggered`: the stop has been touched, now or before."""

    price: Decimal | None
    quantity: Decimal
    triggered: bool


def match(order: Order, bar: Bar) -> Match:
    """Applies the rules above to the remaining quantity of a live order."""
    if bar.volume <= 0:
        return Match(None, Decimal(0), order.triggered)
    price, triggered = _price(order, bar)
    max_quantity = (Decimal(bar.volume) * MAX_VOLUME_SHARE).quantize(LOT, ROUND_DOWN)
    quantity = min(order.remaining, max_quantity)
    if price is None or quantity <= 0:
        return Match(None, Decimal(0), triggered)
    return Match(price, quantity, triggered)


def _price(order: Order, bar: Bar) -> tuple[Decimal | None, bool]:
    match order.type:
        case OrderType.MARKET:
            return bar.open, False
        case OrderType.LIMIT:
            return _limit(order, bar), False
        case OrderType.STOP:
            return _stop(order, bar)
        case OrderType.STOP_LIMIT:
            return _stop_limit(order, bar)


def _limit(order: Order, bar: Bar) -> Decimal | None:
    limit = _required(order.limit_price)
    if order.side is Side.BUY:
        return min(bar.open, limit) if bar.low < limit else None
    return max(bar.open, limit) if bar.high > limit else None


def _stop(order: Order, bar: Bar) -> tuple[Decimal | None, bool]:
    if order.triggered:
        # Only a part was filled before: the remaining quantity is a market order.
        return bar.open, True
    stop = _required(order.stop_price)
    if not is_stop_touched(order, bar):
        return None, False
    return (max(bar.open, stop) if order.side is Side.BUY else min(bar.open, stop)), True


def _stop_limit(order: Order, bar: Bar) -> tuple[Decimal | None, bool]:
    if order.triggered:
        return _limit(order, bar), True
    if not is_stop_touched(order, bar):
        return None, False
    limit = _required(order.limit_price)
    if order.side is Side.BUY:
        return (min(bar.high, limit) if bar.close < limit else None), True
    return (max(bar.low, limit) if bar.close > limit else None), True


def is_stop_touched(order: Order, bar: Bar) -> bool:
    """Whether the bar reaches the stop."""
    stop = _required(order.stop_price)
    return bar.high >= stop if order.side is Side.BUY else bar.low <= stop


def _required(price: Decimal | None) -> Decimal:
    if price is None:
        raise ValueError("an order of this type has this price: it was checked when it was made")
    return price
