"""Orders and their states.

    pending_confirmation ─► open ─► triggered ─► partially_filled ─► filled
                      └► rejected, expired    └► cancelled, rejected, expired

The last four (filled, cancelled, rejected, expired) are final.
"""

import hashlib
import json
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import ROUND_DOWN, ROUND_HALF_EVEN, Decimal
from enum import StrEnum
from fractions import Fraction

from contracts.tools.account import OrderType, Side

CENT = Decimal("0.01")
LOT = Decimal("0.00000001")
"""The smallest part of a share or coin; smaller remainders of a split are dropped."""
CONFIRM_WITHIN = timedelta(hours=1)
"""The time to confirm an order, by the wall clock, since a person has to answer."""
GOOD_FOR = timedelta(days=90)
"""The time for which an order stays open, by the market's clock."""


class OrderState(StrEnum):
    """The states of an order."""

    PENDING = "pending_confirmation"
    OPEN = "open"
    TRIGGERED = "triggered"
    PARTIALLY_FILLED = "partially_filled"
    FILLED = "filled"
    CANCELLED = "cancelled"
    REJECTED = "rejected"
    EXPIRED = "expired"


LIVE = frozenset({OrderState.OPEN, OrderState.TRIGGERED, OrderState.PARTIALLY_FILLED})
FINAL = frozenset({OrderState.FILLED, OrderState.CANCELLED, OrderState.REJECTED, OrderState.EXPIRED})


class Decision(StrEnum):
    """The decisions about a pending order."""

    CONFIRMED = "confirmed"
    REJECTED = "rejected"
    EXPIRED = "expired"
    FAILED = "failed"


EDITABLE = {"quantity": "quantity", "limit_price": "limitPrice"}
"""The tool's arguments that a confirmation may change, each with its name in an action's details."""


@dataclass(frozen=True, slots=True)
class Fill:
    """An executed part of an order. `amount` is what was paid or received, to the cent. `realized`: the profit or loss
    of a sale compared with the mean cost of the position."""

    number: int
    quantity: Decimal
    price: Decimal
    amount: Decimal
    time: datetime
    realized: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """One order. `created_at`, `confirm_by` and `decided_at` are wall-clock times; `placed_at`, `good_till`,
    `seen_until` and `ended_at` are the market's. Bars that opened at `seen_until` or later are new to it, never the
    one in which it was placed. Its quantity and prices are in shares of `session`."""

    id: str
    call_id: str
    symbol: str
    side: Side
    type: OrderType
    quantity: Decimal
    limit_price: Decimal | None
    stop_price: Decimal | None
    currency: str
    reserve_price: Decimal
    content_hash: str
    created_at: datetime
    confirm_by: datetime
    session: date
    conversation: str | None = None
    state: OrderState = OrderState.PENDING
    decision: Decision | None = None
    decided_at: datetime | None = None
    placed_at: datetime | None = None
    good_till: datetime | None = None
    seen_until: datetime | None = None
    ended_at: datetime | None = None
    triggered: bool = False
    reason: str | None = None
    fills: tuple[Fill, ...] = ()
    filled: Decimal = Decimal(0)
    language: str = "en"
    replaces: str | None = None
    """The id of an order that is cancelled if this one is confirmed."""
    untold: bool = False
    """The market has filled or ended it, and the user has not been told in the chat yet."""

    @property
    def live(self) -> bool:
        """Whether it waits for the market."""
        return self.state in LIVE

    @property
    def remaining(self) -> Decimal:
        """The quantity that is not filled yet."""
        return self.quantity - self.filled

    @property
    def reserved(self) -> Decimal:
        """The cash reserved for a live buy order."""
        return to_cents(self.remaining * self.reserve_price) if self.live and self.side is Side.BUY else Decimal(0)


def editable_arguments(order: Order) -> tuple[str, ...]:
    """The arguments of this order that a confirmation may change."""
    if order.state is not OrderState.PENDING:
        return ()
    return tuple(name for name in EDITABLE if name != "limit_price" or order.limit_price is not None)


def content_hash(owner: str, order_id: str, content: dict[str, str | None]) -> str:
    """The hash to which a confirmation refers: SHA-256 of the order's owner, id and values."""
    text = json.dumps([owner, order_id, content], sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def contents(order: Order) -> dict[str, str | None]:
    """The values of an order that a confirmation refers to."""
    values = {
        "symbol": order.symbol,
        "side": order.side.value,
        "type": order.type.value,
        "quantity": format_decimal(order.quantity),
        "limit_price": format_decimal(order.limit_price) if order.limit_price is not None else None,
        "stop_price": format_decimal(order.stop_price) if order.stop_price is not None else None,
    }
    return {**values, "replaces": order.replaces} if order.replaces else values


def to_cents(amount: Decimal) -> Decimal:
    """The amount rounded to the cent, halves to even."""
    return amount.quantize(CENT, ROUND_HALF_EVEN)


def scaled_quantity(quantity: Decimal, ratio: Fraction) -> Decimal:
    """A quantity after a split (`ratio` 1: none), rounded down to the smallest part."""
    if ratio == 1:
        return quantity
    return (quantity * ratio.numerator / ratio.denominator).quantize(LOT, ROUND_DOWN).normalize() + 0


def format_decimal(value: Decimal | None) -> str:
    """A decimal as text, without exponent and trailing zeros; "" for None."""
    if value is None:
        return ""
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
