"""A user's paper account as one value; every change is a function from account to account.

One account is one document, replaced by compare-and-set: so cash, positions, orders and the facts that are still to be
told always belong together, whenever a process dies. Always true, to the cent:

    cash + cost of positions = opening cash + realized profit + dividends
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from contracts.tools.account import Side
from market_adapter.domain.bars import Bar, Dividend, Split
from market_adapter.domain.paper.actions import action_of
from market_adapter.domain.paper.fills import match, turn_in_bar
from market_adapter.domain.paper.orders import (
    GOOD_FOR,
    LOT,
    Decision,
    Fill,
    Order,
    OrderState,
    content_hash,
    contents,
    plain,
    scaled_quantity,
    to_cents,
)
from market_adapter.domain.splits import adjustment, scale_price

OPENING_CASH = Decimal("100000.00")
CURRENCY = "USD"
NO_CASH = "insufficient_cash"
NO_POSITION = "insufficient_position"
CHANGED = "changed"
DECIDED, FILLED, CLOSED = "action.decided.v1", "order.filled.v1", "order.closed.v1"


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose account it is."""

    company: str
    user: str

    def __str__(self) -> str:
        return f"{self.company}/{self.user}"


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a symbol, in shares of `session`; `cost` is what was paid for all of it, to the cent."""

    symbol: str
    quantity: Decimal
    cost: Decimal
    session: date


@dataclass(frozen=True, slots=True)
class Fact:
    """Something to be told on the bus, once: `key` tells it from all others of its kind and owner."""

    kind: str
    key: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Account:
    """Everything of one user. `version` counts the changes that are stored; 0: not stored yet."""

    owner: Owner
    cash: Decimal = OPENING_CASH
    positions: Mapping[str, Position] = field(default_factory=dict[str, Position])
    orders: tuple[Order, ...] = ()
    outbox: tuple[Fact, ...] = ()
    version: int = 0
    dividends: Decimal = Decimal("0.00")
    """The dividends paid on holdings so far, to the cent; they are in `cash`."""

    @property
    def reserved(self) -> Decimal:
        """Cash that live buy orders hold back."""
        return sum((order.reserved for order in self.orders), Decimal(0))

    @property
    def buying_power(self) -> Decimal:
        """Cash that is free."""
        return self.cash - self.reserved

    @property
    def symbols(self) -> set[str]:
        """The symbols that the account holds or has waiting orders for."""
        waiting = (order for order in self.orders if order.live or order.state is OrderState.PENDING)
        return set(self.positions) | {order.symbol for order in waiting}

    def order(self, order_id: str) -> Order | None:
        return next((order for order in self.orders if order.id == order_id), None)

    def free_quantity(self, symbol: str, *, but: str = "") -> Decimal:
        """Returns the quantity that may still be sold: held, and not in another live sell order."""
        held = self.positions[symbol].quantity if symbol in self.positions else Decimal(0)
        promised = (
            order.remaining
            for order in self.orders
            if order.live and order.side is Side.SELL and order.symbol == symbol and order.id != but
        )
        return held - sum(promised, Decimal(0))

    def with_order(self, order: Order, *facts: Fact) -> "Account":
        """The account with this order new, or in place of its older self."""
        others = [order if one.id == order.id else one for one in self.orders]
        orders = tuple(others) if self.order(order.id) else (*self.orders, order)
        return replace(self, orders=orders, outbox=(*self.outbox, *facts))


@dataclass(frozen=True, slots=True)
class News:
    """The news about a symbol: closed bars in order, and every split and dividend so far."""

    bars: Sequence[Bar] = ()
    splits: tuple[Split, ...] = ()
    dividends: tuple[Dividend, ...] = ()


def obstacle(account: Account, order: Order) -> str | None:
    """Why the order may not be placed: the order that it replaces no longer waits as it was, or too little free cash or
    too few free shares, those that the replaced order holds back counted in; None: it may."""
    if order.replaces is not None:
        old = account.order(order.replaces)
        if old is None or not old.live or old.filled:
            return CHANGED
        account = replace(account, orders=tuple(one for one in account.orders if one is not old))
    if order.side is Side.SELL:
        return NO_POSITION if order.quantity > account.free_quantity(order.symbol, but=order.id) else None
    return NO_CASH if to_cents(order.quantity * order.reserve_price) > account.buying_power else None


def decide(
    account: Account, order: Order, *, confirm: bool, wall: datetime, market: datetime, splits: Iterable[Split] = ()
) -> Account:
    """A person's yes or no to a pending order. A yes after its hour, to other contents than were shown (a split since
    then changes what a share is), or to what the account can no longer bear, places nothing."""
    if order.state is not OrderState.PENDING:
        return account
    if wall >= order.confirm_by:
        return _settled(account, order, OrderState.EXPIRED, Decision.EXPIRED, "not confirmed in time", market)
    if not confirm:
        return _settled(account, order, OrderState.REJECTED, Decision.REJECTED, "rejected by the user", market)
    same = content_hash(str(account.owner), order.id, contents(order)) == order.content_hash
    if not same or adjustment(splits, order.session, market.date()) != 1:
        return _settled(account, order, OrderState.REJECTED, Decision.FAILED, CHANGED, market)
    if why := obstacle(account, order):
        return _settled(account, order, OrderState.REJECTED, Decision.FAILED, why, market)
    if (old := account.order(order.replaces or "")) is not None:
        account = cancel(account, old, market)
    return _settled(account, order, OrderState.OPEN, Decision.CONFIRMED, None, market)


def cancel(account: Account, order: Order, market: datetime) -> Account:
    """Takes an order back that is not final."""
    if order.state is OrderState.PENDING:
        return _settled(account, order, OrderState.CANCELLED, Decision.REJECTED, "cancelled by the user", market)
    if not order.live:
        return account
    return _closed(account, replace(order, state=OrderState.CANCELLED, ended_at=market))


def advance(account: Account, news: Mapping[str, News], *, wall: datetime, market: datetime) -> Account:
    """The account after everything that has happened: new bars in their order, splits, and times that have run out."""
    bars = sorted(
        ((bar.time, symbol, bar) for symbol, one in news.items() for bar in one.bars), key=lambda one: one[:2]
    )
    for _, symbol, bar in bars:
        account = _carried(account, symbol, news[symbol], bar.session)
        for order in sorted(_live(account, symbol), key=turn_in_bar):
            account = _seen(account, order, bar)
    for symbol, one in news.items():
        account = _carried(account, symbol, one, market.date())
    for order in account.orders:
        if order.state is OrderState.PENDING and wall >= order.confirm_by:
            account = decide(account, order, confirm=False, wall=wall, market=market)
        elif order.live and order.good_till is not None and market >= order.good_till:
            account = _expired(account, order)
    return account


def _live(account: Account, symbol: str) -> Iterable[Order]:
    return (order for order in account.orders if order.live and order.symbol == symbol)


def _seen(account: Account, order: Order, bar: Bar) -> Account:
    """One live order and one bar."""
    if order.seen_until is None or bar.time < order.seen_until:
        return account
    if order.good_till is not None and bar.time >= order.good_till:
        return _expired(account, order)
    found = match(order, bar)
    seen = replace(order, seen_until=bar.end, triggered=found.triggered)
    if found.price is None:
        state = OrderState.TRIGGERED if found.triggered and order.state is OrderState.OPEN else order.state
        return account.with_order(replace(seen, state=state))
    return _filled(account, seen, found.price, found.quantity, bar)


def _filled(account: Account, order: Order, price: Decimal, quantity: Decimal, bar: Bar) -> Account:
    amount = to_cents(price * quantity)
    free = account.buying_power + order.reserved
    held = account.positions.get(order.symbol)
    if order.side is Side.BUY and amount > free:
        # The price has gone beyond what was reserved: the cash may not go below zero, nor into other orders' reserves.
        return _refused(account, order, NO_CASH, bar.time)
    realized: Decimal | None = None
    positions = dict(account.positions)
    if order.side is Side.BUY:
        before = held or Position(order.symbol, Decimal(0), Decimal("0.00"), bar.session)
        positions[order.symbol] = replace(before, quantity=before.quantity + quantity, cost=before.cost + amount)
        cash = account.cash - amount
    else:
        if held is None or held.quantity < quantity:
            return _refused(account, order, NO_POSITION, bar.time)
        part = held.cost if quantity == held.quantity else to_cents(held.cost * quantity / held.quantity)
        realized = amount - part
        left = held.quantity - quantity
        positions[order.symbol] = replace(held, quantity=left, cost=held.cost - part)
        if left == 0:
            del positions[order.symbol]
        cash = account.cash + amount
    fill = Fill(len(order.fills) + 1, quantity, price, amount, bar.time, realized)
    filled = order.filled + quantity
    done = filled == order.quantity
    after = replace(
        order,
        fills=(*order.fills, fill),
        filled=filled,
        state=OrderState.FILLED if done else OrderState.PARTIALLY_FILLED,
        ended_at=bar.time if done else None,
        untold=True,
    )
    changed = replace(account, cash=cash, positions=positions)
    return changed.with_order(after, _fill_fact(account.owner, after, fill))


def _expired(account: Account, order: Order) -> Account:
    return _closed(account, replace(order, state=OrderState.EXPIRED, ended_at=order.good_till, untold=True))


def _refused(account: Account, order: Order, why: str, moment: datetime) -> Account:
    return _closed(account, replace(order, state=OrderState.REJECTED, reason=why, ended_at=moment, untold=True))


def _closed(account: Account, order: Order) -> Account:
    """A confirmed order that ends without being filled in whole: nobody may learn of it by its absence."""
    return account.with_order(order, Fact(CLOSED, order.id, _closed_data(account.owner, order)))


def _carried(account: Account, symbol: str, news: News, to: date) -> Account:
    """Holdings and live orders in the shares of `to`, and what the holdings were paid until then. The cost stays; what
    is below the smallest part is dropped."""
    held = account.positions.get(symbol)
    if held is not None and held.session < to:
        paid = sum((_paid(held, one, news.splits) for one in news.dividends if held.session < one.on <= to), Decimal(0))
        ratio = adjustment(news.splits, held.session, to)
        quantity = held.quantity if ratio == 1 else scaled_quantity(held.quantity, ratio)
        account = replace(
            account,
            cash=account.cash + paid,
            dividends=account.dividends + paid,
            positions={**account.positions, symbol: replace(held, quantity=quantity, session=to)},
        )
    for order in tuple(_live(account, symbol)):
        if order.session < to and (ratio := adjustment(news.splits, order.session, to)) != 1:
            account = account.with_order(_split_order(order, ratio, to))
    return account


def _paid(held: Position, dividend: Dividend, splits: Iterable[Split]) -> Decimal:
    """The dividend of a holding from before the ex-date, by its number of shares on that day."""
    ratio = adjustment(splits, held.session, dividend.on)
    quantity = held.quantity if ratio == 1 else scaled_quantity(held.quantity, ratio)
    return to_cents(quantity * dividend.amount)


def _split_order(order: Order, ratio: Fraction, to: date) -> Order:
    filled = scaled_quantity(order.filled, ratio)
    return replace(
        order,
        quantity=filled + scaled_quantity(order.remaining, ratio),
        filled=filled,
        limit_price=None if order.limit_price is None else _split_price(order.limit_price, ratio),
        stop_price=None if order.stop_price is None else _split_price(order.stop_price, ratio),
        reserve_price=_split_price(order.reserve_price, ratio),
        session=to,
    )


def _split_price(price: Decimal, ratio: Fraction) -> Decimal:
    return scale_price(price, ratio).quantize(LOT)


def _settled(
    account: Account, order: Order, state: OrderState, decision: Decision, reason: str | None, market: datetime
) -> Account:
    after = replace(order, state=state, decision=decision, reason=reason)
    if state is OrderState.OPEN:
        from_now = replace(after, placed_at=market, seen_until=market, session=market.date())
        after = replace(from_now, good_till=market + GOOD_FOR)
    else:
        after = replace(after, ended_at=market)
    return account.with_order(after, Fact(DECIDED, order.id, _decided(account.owner, after)))


def _decided(owner: Owner, order: Order) -> dict[str, Any]:
    return {
        "companyId": owner.company,
        "userId": owner.user,
        "conversationId": order.conversation,
        "action": action_of(order).to_wire(),
    }


def _closed_data(owner: Owner, order: Order) -> dict[str, Any]:
    return {
        "companyId": owner.company,
        "userId": owner.user,
        "conversationId": order.conversation,
        "order": {
            "orderId": order.id,
            "symbol": order.symbol,
            "side": order.side.value,
            "orderType": order.type.value,
            "quantity": plain(order.quantity),
            "filled": plain(order.filled),
            "state": order.state.value,
            "reason": order.reason,
            "time": None if order.ended_at is None else order.ended_at.isoformat(),
        },
        "action": action_of(order).to_wire(),
    }


def _fill_fact(owner: Owner, order: Order, fill: Fill) -> Fact:
    data: dict[str, Any] = {
        "companyId": owner.company,
        "userId": owner.user,
        "conversationId": order.conversation,
        "orderId": order.id,
        "number": fill.number,
        "symbol": order.symbol,
        "side": order.side.value,
        "orderType": order.type.value,
        "quantity": plain(fill.quantity),
        "price": plain(fill.price),
        "amount": f"{fill.amount:f}",
        "remaining": plain(order.remaining),
        "state": order.state.value,
        "realized": None if fill.realized is None else f"{fill.realized:f}",
        "currency": order.currency,
        "time": fill.time.isoformat(),
        "action": action_of(order).to_wire(),
    }
    return Fact(FILLED, f"{order.id}-{fill.number}", data)
