"""The caller's own paper portfolio. The market-adapter serves both tools; a fill or a cancel ends what is kept."""

from contracts.text import Text
from tool_executor.domain.declaration import CacheScope, Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import (
    MAYBE,
    NUMBER,
    SYMBOL,
    TEXT,
    gives,
    list_of,
    one_of,
    sourced,
    takes,
    whole,
    with_normal_symbol,
)

SIDES = ("buy", "sell")


def tools() -> list[DeclaredTool]:
    """The category's tools."""
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
            "side": one_of(SIDES, "What was done"),
            "quantity": NUMBER,
            "price": NUMBER,
            "time": TEXT,
            "realized": MAYBE,
        }
    )
    return [
        DeclaredTool(
            id="portfolio.get_positions",
            name="get_portfolio",
            description=Text(
                es="Cartera simulada del usuario: posiciones, efectivo y patrimonio.",
                en="The user's paper portfolio: positions, cash and equity.",
            ),
            label=Text(es="Consultando tu cartera…", en="Looking up your portfolio…"),
            category=Category.PORTFOLIO,
            required_plan="pro",
            per_minute=30,
            time_limit=5.0,
            cache=CacheScope.USER,
            texts_differ=True,
            input_schema=takes({}),
            output_schema=sourced(
                {"positions": list_of(position), "cash": NUMBER, "equity": NUMBER, "paper": {"const": True}}
            ),
            handler=OverTheBus(),
            examples=({},),
        ),
        DeclaredTool(
            id="portfolio.get_history",
            name="get_trade_history",
            description=Text(
                es="Operaciones simuladas del usuario ya ejecutadas, las últimas primero, con su resultado.",
                en="The user's executed paper trades, latest first, with what each one realized.",
            ),
            label=Text(es="Consultando tus operaciones…", en="Looking up your trades…"),
            category=Category.PORTFOLIO,
            required_plan="pro",
            per_minute=20,
            time_limit=5.0,
            cache=CacheScope.USER,
            texts_differ=True,
            input_schema=takes({}, {"limit": whole(20, 200, "How many trades"), "symbol": SYMBOL}),
            output_schema=sourced({"trades": list_of(trade)}),
            handler=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({"limit": 5}, {"symbol": "IBM"}),
        ),
    ]
