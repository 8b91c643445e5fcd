"""The caller's paper portfolio. The market-adapter serves both tools. A filled or ended order drops the cached
results."""

from functools import partial

from contracts.text import Text
from contracts.tools.account import HistoryArguments, Side
from contracts.tools.arguments import NoArguments, input_schema
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    MAYBE,
    NUMBER,
    TEXT,
    gives,
    list_of,
    one_of,
    sourced,
    with_normal_symbol,
)

portfolio_tool = partial(
    DeclaredTool,
    category=Category.PORTFOLIO,
    required_plan="pro",
    cache=CacheScope.USER,
    texts_differ=True,
    handler=OverTheBus(),
)


def tools() -> list[DeclaredTool]:
    position = gives(
        {
            "symbol": TEXT,
            "quantity": NUMBER,
            "average_price": NUMBER,
            **dict.fromkeys(("price", "value", "unrealized"), MAYBE),
        }
    )
    trade = gives(
        {
            "order_id": TEXT,
            "symbol": TEXT,
            "side": one_of(tuple(Side), "What was done"),
            "quantity": NUMBER,
            "price": NUMBER,
            "time": TEXT,
            "realized": MAYBE,
        }
    )
    return [
        portfolio_tool(
            id="portfolio.get_positions",
            name="get_portfolio",
            description=Text(
                es="Cartera simulada del usuario: posiciones, efectivo y patrimonio.",
                en="The user's paper portfolio: positions, cash and equity.",
            ),
            label=Text(es="Consultando tu cartera…", en="Looking up your portfolio…"),
            per_minute=30,
            time_limit=5.0,
            input_schema=input_schema(NoArguments),
            output_schema=sourced(
                {"positions": list_of(position), "cash": NUMBER, "equity": NUMBER, "paper": {"const": True}}
            ),
            examples=({},),
        ),
        portfolio_tool(
            id="portfolio.get_history",
            name="get_trade_history",
            description=Text(
                es="Operaciones simuladas del usuario ya ejecutadas, las últimas primero, con su resultado.",
                en="The user's executed paper trades, latest first, with what each one realized.",
            ),
            label=Text(es="Consultando tus operaciones…", en="Looking up your trades…"),
            per_minute=20,
            time_limit=5.0,
            input_schema=input_schema(HistoryArguments),
            output_schema=sourced({"trades": list_of(trade)}),
            normaliser=with_normal_symbol,
            examples=({"limit": 5}, {"symbol": "IBM"}),
        ),
    ]
