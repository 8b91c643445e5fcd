"""create_paper_order, cancel_paper_order, get_pending_orders.

A new order is only a proposal: nothing is placed before a person confirms. The order's client id is the id of the call,
so repeating the call finds the order that it made, whatever was lost in between.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_UP, Decimal

from pydantic import Field

from contracts.envelope import Snake
from contracts.ids import derive_id
from contracts.symbols import Symbol, SymbolKind
from contracts.text import Text
from contracts.tools.account import OrderArguments, OrderRef, OrderType, Side
from contracts.tools.arguments import NoArguments
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.paper.account import CHANGED, CURRENCY, NO_CASH, Account, cancel, obstacle
from market_adapter.domain.paper.actions import editable
from market_adapter.domain.paper.order_text import figure, money, summary
from market_adapter.domain.paper.orders import (
    CENT,
    CONFIRM_WITHIN,
    EDITABLE,
    FINAL,
    LOT,
    Order,
    OrderState,
    content_hash,
    contents,
    may_change,
    to_cents,
)
from market_adapter.domain.quotes import Quote
from market_adapter.errors import ActionRefusedError, NotFoundError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import CallBy
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool
from runtime.clock import Clock

MOST_WAITING = 100
"""Orders of one account that may wait at a time, for a yes or for the market."""
MOST_CLOSED = 5


class OrderData(Snake):
    """One order. Times are the market's, but `created_at` and `expires_at` while it waits for a yes."""

    order_id: str
    symbol: str
    side: Side
    quantity: float
    order_type: OrderType
    limit_price: float | None
    stop_price: float | None
    status: OrderState
    filled_quantity: float
    created_at: datetime
    expires_at: datetime
    reason: str | None
    paper: bool = True

    @classmethod
    def of(cls, order: Order) -> "OrderData":
        return cls(
            order_id=order.id,
            symbol=order.symbol,
            side=order.side,
            quantity=float(order.quantity),
            order_type=order.type,
            limit_price=None if order.limit_price is None else float(order.limit_price),
            stop_price=None if order.stop_price is None else float(order.stop_price),
            status=order.state,
            filled_quantity=float(order.filled),
            created_at=order.created_at,
            expires_at=order.good_till or order.confirm_by,
            reason=order.reason,
        )


class OrderEstimate(Snake):
    """What the order would do at `price`: its limit, its stop, or the last price; the market may give another.
    `cash_after` is what would be free then: other open orders keep what they reserve."""

    price: float
    amount: float
    cash_after: float
    currency: str


class CreatedData(Sourced):
    """Output of create_paper_order: a question to the user, good until `expires_at`. Nothing is placed yet."""

    action_id: str
    status: OrderState
    order: OrderData
    estimate: OrderEstimate
    summary: str
    content_hash: str
    expires_at: datetime
    editable: dict[str, object] | None = Field(default=None, description="what a yes may change, as JSON Schemas")
    paper: bool = True


class CancelledData(Snake):
    """Output of cancel_paper_order."""

    order_id: str
    status: OrderState


class PendingData(Sourced):
    """Output of get_pending_orders: what waits for a yes or for the market, oldest first; and the last confirmed orders
    that ended without being filled in whole, newest first, with the reason."""

    orders: list[OrderData]
    closed: list[OrderData] = Field(default_factory=list[OrderData])
    paper: bool = True


class TradingTools:
    def __init__(self, provider: MarketProvider, books: PaperTrading, wall: Clock) -> None:
        self._provider = provider
        self._books = books
        self._wall = wall

    @tool
    async def create_paper_order(self, asked: OrderArguments, by: CallBy) -> CreatedData:
        """A pending order, checked against market and account."""
        if (made := await self.created(by)) is not None:
            return made
        symbol = asked_symbol(asked.symbol)
        quote = await self._provider.quote(symbol)
        if symbol.kind is SymbolKind.INDEX:
            raise ActionRefusedError(symbol.name, TEXTS["order.of_an_index"].format(symbol=symbol), "not_tradable")
        if quote.currency != CURRENCY:
            text = TEXTS["order.other_currency"].format(symbol=symbol, currency=quote.currency, account=CURRENCY)
            raise ActionRefusedError(symbol.name, text, "not_tradable")

        def with_order(account: Account, _news: object) -> tuple[Account, Order]:
            by.check_time()
            return self._with_order(account, self._order(asked, by, quote), symbol)

        order = await self._books.change(by.owner, with_order)
        return self._created(order, await self._books.current(by.owner), quote.source, quote.as_of)

    async def created(self, by: CallBy) -> CreatedData | None:
        """The order that this call has made, as it is now; None: it has made none."""
        order_id, account = order_id_of(by), await self._books.store.load(by.owner)
        order = account.order(order_id)
        order = order or (await self._books.store.archived_orders(by.owner, [order_id])).get(order_id)
        if order is None:
            return None
        return self._created(order, account, self._provider.source, self._provider.now())

    @tool
    async def cancel_paper_order(self, asked: OrderRef, by: CallBy) -> CancelledData:
        """Takes back an order that is not final; one that is cancelled already stays so."""

        def take_back(account: Account, _news: object) -> tuple[Account, Order | None]:
            by.check_time()
            order = account.order(asked.order_id)
            changed = account if order is None else cancel(account, order, self._provider.now())
            return changed, changed.order(asked.order_id)

        order = await self._books.change(by.owner, take_back)
        order = order or (await self._books.store.archived_orders(by.owner, [asked.order_id])).get(asked.order_id)
        if order is None:
            raise NotFoundError(asked.order_id, TEXTS["order.not_yours"].format(order_id=asked.order_id))
        if order.state is not OrderState.CANCELLED:
            text = TEXTS["order.ended_already"].format(ended=TEXTS[f"order.ended.{order.state}"])
            raise ActionRefusedError(order.symbol, text, "final")
        return CancelledData(order_id=order.id, status=order.state)

    async def cancelled(self, asked: OrderRef, by: CallBy) -> CancelledData | None:
        """The order as cancelled; None: it is not, by this call or any other."""
        order = (await self._books.store.load(by.owner)).order(asked.order_id)
        order = order or (await self._books.store.archived_orders(by.owner, [asked.order_id])).get(asked.order_id)
        if order is None or order.state is not OrderState.CANCELLED:
            return None
        return CancelledData(order_id=order.id, status=order.state)

    @tool
    async def get_pending_orders(self, _asked: NoArguments, by: CallBy) -> PendingData:
        """Returns the orders that wait for a yes."""
        account = await self._books.current(by.owner)
        return PendingData(
            orders=[OrderData.of(order) for order in account.orders if _waits(order)],
            closed=[OrderData.of(order) for order in _closed(account)],
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    def _order(self, asked: OrderArguments, by: CallBy, quote: Quote) -> Order:
        order_id, now = order_id_of(by), self._wall.now()
        return Order(
            id=order_id,
            call_id=by.call_id,
            symbol=quote.symbol.name,
            side=asked.side,
            type=asked.order_type,
            quantity=asked.quantity,
            limit_price=asked.limit_price,
            stop_price=asked.stop_price,
            currency=quote.currency,
            reserve_price=asked.limit_price or asked.stop_price or quote.price,
            content_hash="",
            created_at=now,
            confirm_by=now + CONFIRM_WITHIN,
            session=self._provider.now().date(),
            conversation=by.conversation,
            language=by.language,
            replaces=asked.replaces,
        )

    def _with_order(self, account: Account, order: Order, symbol: Symbol) -> tuple[Account, Order]:
        """The account with the new order, or with the one that this call has made before."""
        if (made := account.order(order.id)) is not None:
            return account, made
        if sum(1 for one in account.orders if _waits(one)) >= MOST_WAITING:
            raise ActionRefusedError(symbol.name, TEXTS["order.too_many"].format(most=MOST_WAITING), "too_many_orders")
        old = account.order(order.replaces or "")
        if old is not None and old.state is OrderState.PENDING:
            # Two questions about one change must not wait side by side.
            account, order = cancel(account, old, self._provider.now()), replace(order, replaces=old.replaces)
        order = replace(order, content_hash=content_hash(str(account.owner), order.id, contents(order)))
        refuse_impossible(account, order)
        return account.with_order(order), order

    def _created(self, order: Order, account: Account, source: str, as_of: datetime) -> CreatedData:
        amount = to_cents(order.quantity * order.reserve_price)
        free = account.cash - sum(one.reserved for one in account.orders if one.id not in (order.id, order.replaces))
        after = free - amount if order.side is Side.BUY else free + amount
        return CreatedData(
            action_id=order.id,
            status=order.state,
            order=OrderData.of(order),
            estimate=OrderEstimate(
                price=float(order.reserve_price), amount=float(amount), cash_after=float(after), currency=order.currency
            ),
            summary=summary(order),
            content_hash=order.content_hash,
            expires_at=order.confirm_by,
            editable=editable(order),
            source=source,
            as_of=as_of,
        )


def refuse_impossible(account: Account, order: Order) -> None:
    """Raises ActionRefusedError where the account cannot bear the order, or it is too small to be one."""
    if to_cents(order.quantity * order.reserve_price) < CENT and not _is_the_rest(account, order):
        raise ActionRefusedError(order.symbol, _too_small(order), "below_minimum")
    if why := obstacle(account, order):
        raise ActionRefusedError(order.symbol, _explained(why, account, order), why)


def edited(owner: str, order: Order, edits: Mapping[str, object]) -> Order:
    """The order with other values of what may be changed in it (as an action's details name them), which are read as
    the tool's own arguments are. What it costs at market is what it was estimated at.

    Raises:
        ValidationError: they are no such arguments.
    """
    names = {EDITABLE[name]: name for name in may_change(order)}
    asked = OrderArguments.model_validate(
        {
            "symbol": order.symbol,
            "side": order.side,
            "quantity": order.quantity,
            "order_type": order.type,
            "limit_price": order.limit_price,
            "stop_price": order.stop_price,
            **{names.get(name, name): value for name, value in edits.items()},
        }
    )
    changed = replace(
        order,
        quantity=asked.quantity,
        limit_price=asked.limit_price,
        reserve_price=asked.limit_price or asked.stop_price or order.reserve_price,
    )
    return replace(changed, content_hash=content_hash(owner, order.id, contents(changed)))


def order_id_of(by: CallBy) -> str:
    return derive_id(str(by.owner), "order", by.call_id).replace("-", "")


def _waits(order: Order) -> bool:
    return order.live or order.state is OrderState.PENDING


def _is_the_rest(account: Account, order: Order) -> bool:
    """A sale of all that is free: what a split has left may be worth less than a cent, and must not stay for ever."""
    return order.side is Side.SELL and order.quantity == account.free_quantity(order.symbol)


def _too_small(order: Order) -> Text:
    quantity, price = figure(order.quantity), figure(order.reserve_price)
    needed = figure((CENT / order.reserve_price).quantize(LOT, ROUND_UP))
    return TEXTS["order.too_small"].format(quantity=quantity, symbol=order.symbol, price=price, needed=needed)


def _closed(account: Account) -> list[Order]:
    short = FINAL - {OrderState.FILLED}
    ended = [one for one in account.orders if one.placed_at is not None and one.state in short]
    return sorted(ended, key=lambda one: (one.ended_at or one.created_at, one.id), reverse=True)[:MOST_CLOSED]


def _explained(why: str, account: Account, order: Order) -> Text:
    if why == CHANGED:
        return TEXTS["order.replaced_ended"]
    if why == NO_CASH:
        needed, free = money(order.quantity * order.reserve_price), money(account.buying_power)
        unit = order.currency
        return TEXTS["order.too_little_cash"].format(needed=needed, unit=unit, free=free)
    shares = figure(max(account.free_quantity(order.symbol), Decimal(0)))
    return TEXTS["order.too_few_shares"].format(shares=shares, symbol=order.symbol)
