"""How a bar fills an order. The rules are those of published bar simulators, read the less lucky way.

    market       at the bar's open: the next price after the order came
    limit        needs trade-through: the price must go beyond the limit, a touch is not enough; it fills at the limit,
                 or at the open when that is already better (a favourable gap)
    stop         triggers at a touch; it fills at the stop, or at the open when that is already beyond it (a gap)
    stop_limit   triggers at a touch; the bar that triggers it fills it only if the close is inside the limit, at the
                 worst price of the bar that the limit allows; later bars treat it as a resting limit order

Never the bar in which the order came: the caller only hands in later ones. A bar in which nothing was traded fills
nothing, and no order takes more than a tenth of a bar's volume. Stops go before targets when one bar reaches both.
Source of the stop-limit rule: QuantConnect LEAN's EquityFillModel.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import ROUND_DOWN, Decimal

from contracts.tools.account import OrderType, Side
from market_adapter.domain.bars import Bar
from market_adapter.domain.paper.orders import LOT, Order

PARTICIPATION = Decimal("0.1")
RANK = {OrderType.MARKET: 0, OrderType.STOP: 1, OrderType.STOP_LIMIT: 1, OrderType.LIMIT: 2}
"""The order in which one bar's orders are looked at: the open comes first, stops before targets."""


def turn_in_bar(order: Order) -> tuple[int, datetime, str]:
    """Orders of a symbol have their turn in this order within a bar."""
    return RANK[order.type], order.created_at, order.id


@dataclass(frozen=True, slots=True)
class Match:
    """The effect of a bar on an order: `price` None: no fill; `triggered`: the stop has been touched, now or before."""

    price: Decimal | None
    quantity: Decimal
    triggered: bool


def match(order: Order, bar: Bar) -> Match:
    """The rules above, for what remains of a live order."""
    if bar.volume <= 0:
        return Match(None, Decimal(0), order.triggered)
    price, triggered = _price(order, bar)
    most = (Decimal(bar.volume) * PARTICIPATION).quantize(LOT, ROUND_DOWN)
    quantity = min(order.remaining, most)
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
    limit = _needed(order.limit_price)
    if order.side is Side.BUY:
        return min(bar.open, limit) if bar.low < limit else None
    return max(bar.open, limit) if bar.high > limit else None


def _stop(order: Order, bar: Bar) -> tuple[Decimal | None, bool]:
    if order.triggered:
        # Only a part was to be had before: the rest is a market order.
        return bar.open, True
    stop = _needed(order.stop_price)
    if not touched(order, bar):
        return None, False
    return (max(bar.open, stop) if order.side is Side.BUY else min(bar.open, stop)), True


def _stop_limit(order: Order, bar: Bar) -> tuple[Decimal | None, bool]:
    if order.triggered:
        return _limit(order, bar), True
    if not touched(order, bar):
        return None, False
    limit = _needed(order.limit_price)
    if order.side is Side.BUY:
        return (min(bar.high, limit) if bar.close < limit else None), True
    return (max(bar.low, limit) if bar.close > limit else None), True


def touched(order: Order, bar: Bar) -> bool:
    """Whether the bar reaches the stop."""
    stop = _needed(order.stop_price)
    return bar.high >= stop if order.side is Side.BUY else bar.low <= stop


def _needed(price: Decimal | None) -> Decimal:
    if price is None:
        raise ValueError("an order of this type has this price: it was checked when it was made")
    return price
