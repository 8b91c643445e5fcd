"""A user's paper account as one value; every change is a function from account to account.

One account is one document, replaced by compare-and-set, so that cash, positions, orders and the facts to be published
always agree, whenever a process dies. Always true, to the cent:

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
from market_adapter.domain.paper.fills import match, rank_in_bar
from market_adapter.domain.paper.orders import (
    GOOD_FOR,
    LOT,
    Decision,
    Fill,
    Order,
    OrderState,
    content_hash,
    contents,
    format_decimal,
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
    """The owner of an account."""

    company: str
    user: str

    def __str__(self) -> str:
        return f"{self.company}/{self.user}"


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a symbol, in shares of `session`; `cost` is the price paid for all of it, to the cent."""

    symbol: str
    quantity: Decimal
    cost: Decimal
    session: date


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact to be published once; `key` distinguishes it from all others of its kind and owner."""

    kind: str
    key: str
    data: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Account:
    """One user's account. `version` counts the stored changes; 0: not stored yet."""

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
        """The cash reserved for live buy orders."""
        return sum((order.reserved for order in self.orders), Decimal(0))

    @property
    def buying_power(self) -> Decimal:
        """The free cash."""
        return self.cash - self.reserved

    @property
    def symbols(self) -> set[str]:
        """The symbols that the account holds, or for which it has live or pending orders."""
        waiting = (order for order in self.orders if order.live or order.state is OrderState.PENDING)
        return set(self.positions) | {order.symbol for order in waiting}

    def order(self, order_id: str) -> Order | None:
        return next((order for order in self.orders if order.id == order_id), None)

    def free_quantity(self, symbol: str, *, excluded_order: str = "") -> Decimal:
        """The quantity that may still be sold: owned, and not in another live sell order than `excluded_order`."""
        owned = self.positions[symbol].quantity if symbol in self.positions else Decimal(0)
        in_sell_orders = (
            order.remaining
            for order in self.orders
            if order.live and order.side is Side.SELL and order.symbol == symbol and order.id != excluded_order
        )
        return owned - sum(in_sell_orders, Decimal(0))

    def with_order(self, order: Order, *facts: Fact) -> "Account":
        """The account with this order added, or replacing its older version, and with these facts in the outbox."""
        replaced = [order if existing.id == order.id else existing for existing in self.orders]
        orders = tuple(replaced) if self.order(order.id) else (*self.orders, order)
        return replace(self, orders=orders, outbox=(*self.outbox, *facts))


@dataclass(frozen=True, slots=True)
class News:
    """The market's news about a symbol: closed bars in order, and every split and dividend so far."""

    bars: Sequence[Bar] = ()
    splits: tuple[Split, ...] = ()
    dividends: tuple[Dividend, ...] = ()


def obstacle(account: Account, order: Order) -> str | None:
    """The reason why the order may not be placed, or None: the order that it replaces is no longer live and unfilled,
    or there is too little free cash or too few free shares, counting those reserved by the replaced order as free."""
    if order.replaces is not None:
        replaced = account.order(order.replaces)
        if replaced is None or not replaced.live or replaced.filled:
            return CHANGED
        account = replace(account, orders=tuple(other for other in account.orders if other is not replaced))
    if order.side is Side.SELL:
        return NO_POSITION if order.quantity > account.free_quantity(order.symbol, excluded_order=order.id) else None
    return NO_CASH if to_cents(order.quantity * order.reserve_price) > account.buying_power else None


def decide(
    account: Account, order: Order, *, confirm: bool, wall: datetime, market: datetime, splits: Iterable[Split] = ()
) -> Account:
    """Applies a person's decision to a pending order. A confirmation places nothing if it is too late, if the contents
    are not those that were shown (a split since then changes what a share is), or if the account cannot afford it
    now."""
    if order.state is not OrderState.PENDING:
        return account
    if wall >= order.confirm_by:
        return _record_decision(
            account, order, OrderState.EXPIRED, Decision.EXPIRED, "not confirmed in time", wall, market
        )
    if not confirm:
        return _record_decision(
            account, order, OrderState.REJECTED, Decision.REJECTED, "rejected by the user", wall, market
        )
    is_unchanged = content_hash(str(account.owner), order.id, contents(order)) == order.content_hash
    if not is_unchanged or adjustment(splits, order.session, market.date()) != 1:
        return _record_decision(account, order, OrderState.REJECTED, Decision.FAILED, CHANGED, wall, market)
    if reason := obstacle(account, order):
        return _record_decision(account, order, OrderState.REJECTED, Decision.FAILED, reason, wall, market)
    if (replaced := account.order(order.replaces or "")) is not None:
        account = cancel(account, replaced, wall, market)
    return _record_decision(account, order, OrderState.OPEN, Decision.CONFIRMED, None, wall, market)


def cancel(account: Account, order: Order, wall: datetime, market: datetime) -> Account:
    """Cancels an order that is not final."""
    if order.state is OrderState.PENDING:
        return _record_decision(
            account, order, OrderState.CANCELLED, Decision.REJECTED, "cancelled by the user", wall, market
        )
    if not order.live:
        return account
    return _close(account, replace(order, state=OrderState.CANCELLED, ended_at=market))


def advance(account: Account, news: Mapping[str, News], *, wall: datetime, market: datetime) -> Account:
    """The account after everything that has happened: new bars in order, splits and dividends, and expired orders."""
    bars = sorted(
        ((bar.time, symbol, bar) for symbol, symbol_news in news.items() for bar in symbol_news.bars),
        key=lambda dated_bar: dated_bar[:2],
    )
    for _, symbol, bar in bars:
        account = _bring_to(account, symbol, news[symbol], bar.session)
        for order in sorted(_live_orders(account, symbol), key=rank_in_bar):
            account = _process_bar(account, order, bar)
    for symbol, symbol_news in news.items():
        account = _bring_to(account, symbol, symbol_news, market.date())
    for order in account.orders:
        if order.state is OrderState.PENDING and wall >= order.confirm_by:
            account = decide(account, order, confirm=False, wall=wall, market=market)
        elif order.live and order.good_till is not None and market >= order.good_till:
            account = _expire(account, order)
    return account


def _live_orders(account: Account, symbol: str) -> Iterable[Order]:
    return (order for order in account.orders if order.live and order.symbol == symbol)


def _process_bar(account: Account, order: Order, bar: Bar) -> Account:
    """Applies a bar to a live order."""
    if order.seen_until is None or bar.time < order.seen_until:
        return account
    if order.good_till is not None and bar.time >= order.good_till:
        return _expire(account, order)
    filled = match(order, bar)
    updated = replace(order, seen_until=bar.end, triggered=filled.triggered)
    if filled.price is None:
        state = OrderState.TRIGGERED if filled.triggered and order.state is OrderState.OPEN else order.state
        return account.with_order(replace(updated, state=state))
    return _fill(account, updated, filled.price, filled.quantity, bar)


def _fill(account: Account, order: Order, price: Decimal, quantity: Decimal, bar: Bar) -> Account:
    amount = to_cents(price * quantity)
    available_cash = account.buying_power + order.reserved
    position = account.positions.get(order.symbol)
    if order.side is Side.BUY and amount > available_cash:
        # The price has risen above the reserved one: cash must not fall below zero, nor below other orders' reserves.
        return _reject(account, order, NO_CASH, bar.time)
    realized: Decimal | None = None
    positions = dict(account.positions)
    if order.side is Side.BUY:
        old_position = position or Position(order.symbol, Decimal(0), Decimal("0.00"), bar.session)
        positions[order.symbol] = replace(
            old_position, quantity=old_position.quantity + quantity, cost=old_position.cost + amount
        )
        cash = account.cash - amount
    else:
        if position is None or position.quantity < quantity:
            return _reject(account, order, NO_POSITION, bar.time)
        cost_of_sold = (
            position.cost if quantity == position.quantity else to_cents(position.cost * quantity / position.quantity)
        )
        realized = amount - cost_of_sold
        remaining_quantity = position.quantity - quantity
        positions[order.symbol] = replace(position, quantity=remaining_quantity, cost=position.cost - cost_of_sold)
        if remaining_quantity == 0:
            del positions[order.symbol]
        cash = account.cash + amount
    fill = Fill(len(order.fills) + 1, quantity, price, amount, bar.time, realized)
    filled = order.filled + quantity
    is_complete = filled == order.quantity
    updated = replace(
        order,
        fills=(*order.fills, fill),
        filled=filled,
        state=OrderState.FILLED if is_complete else OrderState.PARTIALLY_FILLED,
        ended_at=bar.time if is_complete else None,
        untold=True,
    )
    changed = replace(account, cash=cash, positions=positions)
    return changed.with_order(updated, _fill_fact(account.owner, updated, fill))


def _expire(account: Account, order: Order) -> Account:
    return _close(account, replace(order, state=OrderState.EXPIRED, ended_at=order.good_till, untold=True))


def _reject(account: Account, order: Order, reason: str, time: datetime) -> Account:
    return _close(account, replace(order, state=OrderState.REJECTED, reason=reason, ended_at=time, untold=True))


def _close(account: Account, order: Order) -> Account:
    """Ends a confirmed order that was not filled completely, with a fact, so that nobody has to notice its absence."""
    closed = {
        "orderId": order.id,
        "symbol": order.symbol,
        "side": order.side.value,
        "orderType": order.type.value,
        "quantity": format_decimal(order.quantity),
        "filled": format_decimal(order.filled),
        "state": order.state.value,
        "reason": order.reason,
        "time": None if order.ended_at is None else order.ended_at.isoformat(),
    }
    return account.with_order(order, Fact(CLOSED, order.id, _fact_data(account.owner, order, order=closed)))


def _bring_to(account: Account, symbol: str, news: News, session: date) -> Account:
    """Converts the position and the live orders to shares of `session`, and adds the dividends paid until then. The
    cost stays the same; fractions below the smallest part are dropped."""
    position = account.positions.get(symbol)
    if position is not None and position.session < session:
        dividends = sum(
            (
                _dividend_amount(position, dividend, news.splits)
                for dividend in news.dividends
                if position.session < dividend.on <= session
            ),
            Decimal(0),
        )
        quantity = scaled_quantity(position.quantity, adjustment(news.splits, position.session, session))
        account = replace(
            account,
            cash=account.cash + dividends,
            dividends=account.dividends + dividends,
            positions={**account.positions, symbol: replace(position, quantity=quantity, session=session)},
        )
    for order in tuple(_live_orders(account, symbol)):
        if order.session < session and (ratio := adjustment(news.splits, order.session, session)) != 1:
            account = account.with_order(_split_order(order, ratio, session))
    return account


def _dividend_amount(position: Position, dividend: Dividend, splits: Iterable[Split]) -> Decimal:
    """The amount of a dividend on a position from before the ex-date, by its number of shares on that date."""
    quantity = scaled_quantity(position.quantity, adjustment(splits, position.session, dividend.on))
    return to_cents(quantity * dividend.amount)


def _split_order(order: Order, ratio: Fraction, session: date) -> Order:
    filled = scaled_quantity(order.filled, ratio)
    return replace(
        order,
        quantity=filled + scaled_quantity(order.remaining, ratio),
        filled=filled,
        limit_price=None if order.limit_price is None else _split_price(order.limit_price, ratio),
        stop_price=None if order.stop_price is None else _split_price(order.stop_price, ratio),
        reserve_price=_split_price(order.reserve_price, ratio),
        session=session,
    )


def _split_price(price: Decimal, ratio: Fraction) -> Decimal:
    return scale_price(price, ratio).quantize(LOT)


def _record_decision(
    account: Account,
    order: Order,
    state: OrderState,
    decision: Decision,
    reason: str | None,
    wall: datetime,
    market: datetime,
) -> Account:
    # An order expires at its time, also if nobody looked then.
    decided_at = min(wall, order.confirm_by)
    updated = replace(order, state=state, decision=decision, decided_at=decided_at, reason=reason)
    if state is OrderState.OPEN:
        placed = replace(updated, placed_at=market, seen_until=market, session=market.date())
        updated = replace(placed, good_till=market + GOOD_FOR)
    else:
        updated = replace(updated, ended_at=market)
    return account.with_order(
        updated, Fact(DECIDED, order.id, _fact_data(account.owner, updated, decidedAt=decided_at.isoformat()))
    )


def _fact_data(owner: Owner, order: Order, /, **details: object) -> dict[str, Any]:
    """The data of a fact about an order: whose it is, the details, and the action as people see it."""
    return {
        "companyId": owner.company,
        "userId": owner.user,
        "conversationId": order.conversation,
        **details,
        "action": action_of(order).to_wire(),
    }


def _fill_fact(owner: Owner, order: Order, fill: Fill) -> Fact:
    data = _fact_data(
        owner,
        order,
        orderId=order.id,
        number=fill.number,
        symbol=order.symbol,
        side=order.side.value,
        orderType=order.type.value,
        quantity=format_decimal(fill.quantity),
        price=format_decimal(fill.price),
        amount=f"{fill.amount:f}",
        remaining=format_decimal(order.remaining),
        state=order.state.value,
        realized=None if fill.realized is None else f"{fill.realized:f}",
        currency=order.currency,
        time=fill.time.isoformat(),
    )
    return Fact(FILLED, f"{order.id}-{fill.number}", data)
