"""get_portfolio and get_trade_history."""

import asyncio
from decimal import Decimal

from contracts.symbols import parse_symbol
from contracts.tools.account import HistoryArguments, HistoryData, PortfolioData, PositionData, TradeData
from contracts.tools.arguments import NoArguments
from market_adapter.domain.paper.account import CURRENCY, OPENING_CASH, Account, Position
from market_adapter.domain.paper.fills import rank_in_bar
from market_adapter.domain.paper.orders import Order, to_cents
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.errors import MarketError
from market_adapter.paper_trading import PaperTrading
from market_adapter.ports import MarketProvider
from market_adapter.tools.caller import ToolCaller
from market_adapter.tools.shapes import number
from market_adapter.tools.tool import tool


class PortfolioTools:
    """Tools for a user's holdings and trades."""

    def __init__(self, provider: MarketProvider, paper_trading: PaperTrading) -> None:
        self._provider = provider
        self._paper_trading = paper_trading

    @tool
    async def get_portfolio(self, _arguments: NoArguments, caller: ToolCaller) -> PortfolioData:
        """The holdings at the last prices, and the cash."""
        account = await self._paper_trading.current(caller.owner)
        positions = await asyncio.gather(
            *(self._position(position) for _, position in sorted(account.positions.items()))
        )
        holdings_value = sum(
            (Decimal(str(position.cost if position.value is None else position.value)) for position in positions),
            Decimal(0),
        )
        return PortfolioData(
            positions=list(positions),
            cash=float(account.cash),
            reserved=float(account.reserved),
            buying_power=float(account.buying_power),
            equity=float(account.cash + holdings_value),
            realized=float(realized(account)),
            dividends=float(account.dividends),
            currency=CURRENCY,
            paper=True,
            source=self._provider.source,
            as_of=self._provider.now(),
        )

    @tool
    async def get_trade_history(self, arguments: HistoryArguments, caller: ToolCaller) -> HistoryData:
        """The last fills, newest first."""
        symbol = None if arguments.symbol is None else requested_symbol(arguments.symbol).name
        account = await self._paper_trading.current(caller.owner)
        orders: dict[str, Order] = {
            order.id: order for order in await self._paper_trading.store.archived(caller.owner, arguments.limit, symbol)
        }
        orders |= {order.id: order for order in account.orders if symbol in (None, order.symbol)}
        fills = [(order, fill) for order in orders.values() for fill in order.fills]
        fills.sort(key=lambda entry: (entry[1].time, entry[0].symbol, rank_in_bar(entry[0])), reverse=True)
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
            for order, fill in fills[: arguments.limit]
        ]
        return HistoryData(trades=trades, paper=True, source=self._provider.source, as_of=self._provider.now())

    async def _position(self, position: Position) -> PositionData:
        try:
            price = (await self._provider.quote(parse_symbol(position.symbol))).price
        except MarketError:
            price = None
        value = None if price is None else to_cents(price * position.quantity)
        return PositionData(
            symbol=position.symbol,
            quantity=float(position.quantity),
            average_price=number(position.cost / position.quantity, 6) or 0.0,
            cost=float(position.cost),
            price=number(price),
            value=number(value),
            unrealized=None if value is None else float(value - position.cost),
        )


def realized(account: Account) -> Decimal:
    """The profit or loss of all sales so far: the change of cash (without dividends) and cost since the opening."""
    cost = sum((position.cost for position in account.positions.values()), Decimal(0))
    return account.cash - account.dividends + cost - OPENING_CASH
