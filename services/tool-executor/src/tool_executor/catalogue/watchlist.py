"""The caller's watchlist. It is in the category market but is personal data, so it is never cached. The
market-adapter serves it."""

from functools import partial

from contracts.tools.arguments import NoArguments, SymbolArguments, input_schema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import TEXT, list_of, sourced, with_normal_symbol
from tool_executor.texts import TEXTS

watchlist_tool = partial(DeclaredTool, category=Category.MARKET, handler=OverTheBus())


def tools() -> list[DeclaredTool]:
    """Returns the tools that read the list, add to it and remove from it; each returns the resulting list."""
    symbols = sourced({"symbols": list_of(TEXT)})
    return [
        watchlist_tool(
            id="watchlist.get",
            name="get_watchlist",
            description=TEXTS["tools.get_watchlist.description"],
            label=TEXTS["tools.get_watchlist.label"],
            per_minute=60,
            time_limit=5.0,
            input_schema=input_schema(NoArguments),
            output_schema=symbols,
            examples=({},),
        ),
        watchlist_tool(
            id="watchlist.add",
            name="add_to_watchlist",
            description=TEXTS["tools.add_to_watchlist.description"],
            label=TEXTS["tools.add_to_watchlist.label"],
            per_minute=30,
            side_effects=True,
            idempotent=True,
            time_limit=5.0,
            input_schema=input_schema(SymbolArguments),
            output_schema=symbols,
            reconcile=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM"},),
        ),
        watchlist_tool(
            id="watchlist.remove",
            name="remove_from_watchlist",
            description=TEXTS["tools.remove_from_watchlist.description"],
            label=TEXTS["tools.remove_from_watchlist.label"],
            per_minute=30,
            side_effects=True,
            destructive=True,
            idempotent=True,
            time_limit=5.0,
            input_schema=input_schema(SymbolArguments),
            output_schema=symbols,
            reconcile=OverTheBus(),
            normaliser=with_normal_symbol,
            examples=({"symbol": "IBM"},),
        ),
    ]
