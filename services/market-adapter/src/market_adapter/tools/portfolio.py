"""get_portfolio and get_trade_history."""

import asyncio
from datetime import datetime
from decimal import Decimal

from contracts.envelope import Snake
from contracts.symbols import parse_symbol
from contracts.tools.account import HistoryArguments, Side
from contracts.tools.arguments import NoArguments
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.paper.account import CURRENCY, OPENING_CASH, Account, Position
from market_adapter.domain.paper.fills import turn_in_bar
from market_adapter.domain.paper.orders import Order, to_cents
from market_adapter.errors import MarketError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.tools.caller import CallBy
from market_adapter.tools.shapes import Sourced, number
from market_adapter.tools.tool import tool


class PositionData(Snake):
    """One holding. `value` and `unrealized` to the cent; null with `price` when there is no price at this moment."""

    symbol: str
    quantity: float
    average_price: float
    cost: float
    price: float | None
    value: float | None
    unrealized: float | None


class PortfolioData(Sourced):
    """Output of get_portfolio. `equity` is cash and holdings at the last prices (a holding with no price counts at its
    cost); `reserved` is held back for open buy orders, `buying_power` is what is free; `dividends` are in `cash`.
    """

    positions: list[PositionData]
    cash: float
    reserved: float
    buying_power: float
    equity: float
    realized: float
    dividends: float
    currency: str = CURRENCY
    paper: bool = True


class TradeData(Snake):
    """One fill. `realized` is null for a purchase."""

    order_id: str
    symbol: str
    side: Side
    quantity: float
    price: float
    amount: float
    time: datetime
    realized: float | None


class HistoryData(Sourced):
    """Output of get_trade_history, newest first."""

    trades: list[TradeData]
    paper: bool = True


class PortfolioTools:
    """Tools for what a user holds and has traded."""

    def __init__(self, provider: MarketProvider, books: PaperTrading) -> None:
        self._provider = provider
        self._books = books

    @tool
    async def get_portfolio(self, _asked: NoArguments, by: CallBy) -> PortfolioData:
        """Holdings at the last prices, and cash."""
        account = await self._books.current(by.owner)
        positions = await asyncio.gather(*(self._position(one) for _, one in sorted(account.positions.items())))
        worth = sum((Decimal(str(one.cost if one.value is None else one.value)) for one in positions), Decimal(0))
        return PortfolioData(
            positions=list(positions),
            cash=float(account.cash),
            reserved=float(account.reserved),
            buying_power=float(account.buying_power),
            equity=float(account.cash + worth),
            realized=float(realized(account)),
            dividends=float(account.dividends),
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    @tool
    async def get_trade_history(self, asked: HistoryArguments, by: CallBy) -> HistoryData:
        """The last fills, newest first."""
        symbol = None if asked.symbol is None else asked_symbol(asked.symbol).name
        account = await self._books.current(by.owner)
        orders: dict[str, Order] = {
            order.id: order for order in await self._books.store.archived(by.owner, asked.limit, symbol)
        }
        orders |= {order.id: order for order in account.orders if symbol in (None, order.symbol)}
        fills = [(order, fill) for order in orders.values() for fill in order.fills]
        fills.sort(key=lambda one: (one[1].time, one[0].symbol, turn_in_bar(one[0])), reverse=True)
        trades = [
            TradeData(
                order_id=order.id,
                symbol=order.symbol,
                side=order.side,
                quantity=float(fill.quantity),
                price=float(fill.price),
                amount=float(fill.amount),
                time=fill.time,
                realized=number(fill.realized),
            )
            for order, fill in fills[: asked.limit]
        ]
        return HistoryData(trades=trades, source=self._provider.source, as_of=self._provider.now())

    async def _position(self, held: Position) -> PositionData:
        try:
            price = (await self._provider.quote(parse_symbol(held.symbol))).price
        except MarketError:
            price = None
        value = None if price is None else to_cents(price * held.quantity)
        return PositionData(
            symbol=held.symbol,
            quantity=float(held.quantity),
            average_price=number(held.cost / held.quantity, 6) or 0.0,
            cost=float(held.cost),
            price=number(price),
            value=number(value),
            unrealized=None if value is None else float(value - held.cost),
        )


def realized(account: Account) -> Decimal:
    """Profit or loss of all sales so far: what cash (but for dividends) and cost have become more, or less."""
    cost = sum((one.cost for one in account.positions.values()), Decimal(0))
    return account.cash - account.dividends + cost - OPENING_CASH
