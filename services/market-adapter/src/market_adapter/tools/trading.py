"""create_paper_order, cancel_paper_order, get_pending_orders.

A new order is only a proposal: nothing is placed before a person confirms it. The order's id is derived from the call's
id, so repeating the call finds the order that it created, whatever was lost in between.
"""

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from decimal import ROUND_UP, Decimal

from contracts.symbols import Symbol, SymbolKind
from contracts.text import Text
from contracts.tools.account import (
    CancelledData,
    CreatedData,
    OrderArguments,
    OrderData,
    OrderEstimate,
    OrderRef,
    PendingData,
    Side,
)
from contracts.tools.arguments import NoArguments
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
    editable_arguments,
    to_cents,
)
from market_adapter.domain.quotes import Quote
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.errors import ActionRefusedError, UnknownIdError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import ToolCaller
from market_adapter.tools.tool import tool
from runtime.clock import Clock

MAX_WAITING = 100
"""Orders of one account that may wait at the same time, for a confirmation or for the market."""
MAX_CLOSED = 5


class TradingTools:
    def __init__(self, provider: MarketProvider, paper_trading: PaperTrading, wall_clock: Clock) -> None:
        self._provider = provider
        self._paper_trading = paper_trading
        self._wall_clock = wall_clock

    @tool
    async def create_paper_order(self, arguments: OrderArguments, caller: ToolCaller) -> CreatedData:
        """Creates a pending order, checked against the market and the account."""
        if (existing := await self.created(caller)) is not None:
            return existing
        symbol = requested_symbol(arguments.symbol)
        quote = await self._provider.quote(symbol)
        if symbol.kind is SymbolKind.INDEX:
            raise ActionRefusedError(symbol.name, TEXTS["order.of_an_index"].format(symbol=symbol), "not_tradable")
        if quote.currency != CURRENCY:
            text = TEXTS["order.other_currency"].format(symbol=symbol, currency=quote.currency, account=CURRENCY)
            raise ActionRefusedError(symbol.name, text, "not_tradable")

        def with_order(account: Account, _news: object) -> tuple[Account, Order]:
            caller.check_time()
            return self._with_order(account, self._order(arguments, caller, quote), symbol)

        order = await self._paper_trading.change(caller.owner, with_order)
        return self._created(order, await self._paper_trading.current(caller.owner), quote.source, quote.as_of)

    async def created(self, caller: ToolCaller) -> CreatedData | None:
        """The order that this call has created, as it is now; None if it has created none."""
        order_id, account = caller.id_of("order"), await self._paper_trading.store.load(caller.owner)
        order = account.order(order_id)
        order = order or await self._paper_trading.archived_order(caller.owner, order_id)
        if order is None:
            return None
        return self._created(order, account, self._provider.source, self._provider.now())

    @tool
    async def cancel_paper_order(self, arguments: OrderRef, caller: ToolCaller) -> CancelledData:
        """Cancels an order that is not final; a cancelled one stays cancelled."""

        def cancel_order(account: Account, _news: object) -> tuple[Account, Order | None]:
            caller.check_time()
            order = account.order(arguments.order_id)
            changed = account if order is None else cancel(account, order, self._wall_clock.now(), self._provider.now())
            return changed, changed.order(arguments.order_id)

        order = await self._paper_trading.change(caller.owner, cancel_order)
        order = order or await self._paper_trading.archived_order(caller.owner, arguments.order_id)
        if order is None:
            raise UnknownIdError(arguments.order_id, TEXTS["order.not_yours"].format(order_id=arguments.order_id))
        if order.state is not OrderState.CANCELLED:
            text = TEXTS["order.ended_already"].format(ended=TEXTS[f"order.ended.{order.state}"])
            raise ActionRefusedError(order.symbol, text, "final")
        return CancelledData(order_id=order.id, status=order.state)

    async def cancelled(self, arguments: OrderRef, caller: ToolCaller) -> CancelledData | None:
        """The order if it has been cancelled, by this call or another; otherwise None."""
        order = (await self._paper_trading.store.load(caller.owner)).order(arguments.order_id)
        order = order or await self._paper_trading.archived_order(caller.owner, arguments.order_id)
        if order is None or order.state is not OrderState.CANCELLED:
            return None
        return CancelledData(order_id=order.id, status=order.state)

    @tool
    async def get_pending_orders(self, _arguments: NoArguments, caller: ToolCaller) -> PendingData:
        """Returns the orders that wait for a confirmation or for the market."""
        account = await self._paper_trading.current(caller.owner)
        return PendingData(
            orders=[order_data(order) for order in account.orders if _is_waiting(order)],
            closed=[order_data(order) for order in _closed(account)],
            paper=True,
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    def _order(self, arguments: OrderArguments, caller: ToolCaller, quote: Quote) -> Order:
        order_id, now = caller.id_of("order"), self._wall_clock.now()
        return Order(
            id=order_id,
            call_id=caller.call_id,
            symbol=quote.symbol.name,
            side=arguments.side,
            type=arguments.order_type,
            quantity=arguments.quantity,
            limit_price=arguments.limit_price,
            stop_price=arguments.stop_price,
            currency=quote.currency,
            reserve_price=arguments.limit_price or arguments.stop_price or quote.price,
            content_hash="",
            created_at=now,
            confirm_by=now + CONFIRM_WITHIN,
            session=self._provider.now().date(),
            conversation=caller.conversation,
            language=caller.language,
            replaces=arguments.replaces,
        )

    def _with_order(self, account: Account, order: Order, symbol: Symbol) -> tuple[Account, Order]:
        """The account with the new order, or with the one that this call has created before."""
        if (existing := account.order(order.id)) is not None:
            return account, existing
        if sum(1 for waiting in account.orders if _is_waiting(waiting)) >= MAX_WAITING:
            raise ActionRefusedError(symbol.name, TEXTS["order.too_many"].format(most=MAX_WAITING), "too_many_orders")
        replaced = account.order(order.replaces or "")
        if replaced is not None and replaced.state is OrderState.PENDING:
            # Two questions about one change must not be pending at the same time.
            account = cancel(account, replaced, self._wall_clock.now(), self._provider.now())
            order = replace(order, replaces=replaced.replaces)
        order = replace(order, content_hash=content_hash(str(account.owner), order.id, contents(order)))
        check_affordable(account, order)
        return account.with_order(order), order

    def _created(self, order: Order, account: Account, source: str, as_of: datetime) -> CreatedData:
        amount = to_cents(order.quantity * order.reserve_price)
        free_cash = account.cash - sum(
            other.reserved for other in account.orders if other.id not in (order.id, order.replaces)
        )
        cash_after = free_cash - amount if order.side is Side.BUY else free_cash + amount
        return CreatedData(
            action_id=order.id,
            status=order.state,
            order=order_data(order),
            estimate=OrderEstimate(
                price=float(order.reserve_price),
                amount=float(amount),
                cash_after=float(cash_after),
                currency=order.currency,
            ),
            summary=summary(order),
            content_hash=order.content_hash,
            expires_at=order.confirm_by,
            editable=editable(order),
            paper=True,
            source=source,
            as_of=as_of,
        )


def check_affordable(account: Account, order: Order) -> None:
    """Raises ActionRefusedError if the account cannot afford the order, or the order is too small."""
    if to_cents(order.quantity * order.reserve_price) < CENT and not _sells_everything(account, order):
        raise ActionRefusedError(order.symbol, _too_small(order), "below_minimum")
    if reason := obstacle(account, order):
        raise ActionRefusedError(order.symbol, _refusal_text(reason, account, order), reason)


def edit_order(owner: str, order: Order, edits: Mapping[str, object]) -> Order:
    """The order with the edits, which are named as in an action's details and checked like the tool's own arguments. A
    market order keeps its estimated price.

    Raises:
        ValidationError: the edits are not valid arguments.
    """
    names = {EDITABLE[name]: name for name in editable_arguments(order)}
    arguments = OrderArguments.model_validate(
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
        quantity=arguments.quantity,
        limit_price=arguments.limit_price,
        reserve_price=arguments.limit_price or arguments.stop_price or order.reserve_price,
    )
    return replace(changed, content_hash=content_hash(owner, order.id, contents(changed)))


def _is_waiting(order: Order) -> bool:
    return order.live or order.state is OrderState.PENDING


def _sells_everything(account: Account, order: Order) -> bool:
    """Whether the order sells the whole free quantity: what a split has left may be worth less than a cent, and must
    not remain for ever."""
    return order.side is Side.SELL and order.quantity == account.free_quantity(order.symbol)


def _too_small(order: Order) -> Text:
    quantity, price = figure(order.quantity), figure(order.reserve_price)
    needed = figure((CENT / order.reserve_price).quantize(LOT, ROUND_UP))
    return TEXTS["order.too_small"].format(quantity=quantity, symbol=order.symbol, price=price, needed=needed)


def _closed(account: Account) -> list[Order]:
    unfilled_states = FINAL - {OrderState.FILLED}
    orders = [order for order in account.orders if order.placed_at is not None and order.state in unfilled_states]
    return sorted(orders, key=lambda order: (order.ended_at or order.created_at, order.id), reverse=True)[:MAX_CLOSED]


def _refusal_text(reason: str, account: Account, order: Order) -> Text:
    if reason == CHANGED:
        return TEXTS["order.replaced_ended"]
    if reason == NO_CASH:
        needed, free = money(order.quantity * order.reserve_price), money(account.buying_power)
        unit = order.currency
        return TEXTS["order.too_little_cash"].format(needed=needed, unit=unit, free=free)
    shares = figure(max(account.free_quantity(order.symbol), Decimal(0)))
    return TEXTS["order.too_few_shares"].format(shares=shares, symbol=order.symbol)


def order_data(order: Order) -> OrderData:
    """An order as get_pending_orders returns it."""
    return OrderData(
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
        paper=True,
    )
