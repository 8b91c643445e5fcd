"""The caller's watchlist. It is in the category market but is personal data, so it is never cached. The
market-adapter serves it."""

from functools import partial

from contracts.tools.account import WatchlistData
from contracts.tools.arguments import NoArguments, SymbolArguments, input_schema
from contracts.tools.results import output_schema
from tool_executor.domain.declaration import Category, DeclaredTool, OverTheBus
from tool_executor.domain.shapes import with_normal_symbol
from tool_executor.texts import named

watchlist_tool = partial(
    DeclaredTool,
    category=Category.MARKET,
    handler=OverTheBus(),
    time_limit=5.0,
    output_schema=output_schema(WatchlistData),
)
changing_tool = partial(
    watchlist_tool,
    per_minute=30,
    side_effects=True,
    idempotent=True,
    input_schema=input_schema(SymbolArguments),
    reconcile=OverTheBus(),
    normaliser=with_normal_symbol,
    examples=({"symbol": "IBM"},),
)

TOOLS: list[DeclaredTool] = [
    watchlist_tool(
        id="watchlist.get",
        **named("get_watchlist"),
        per_minute=60,
        input_schema=input_schema(NoArguments),
        examples=({},),
    ),
    changing_tool(id="watchlist.add", **named("add_to_watchlist")),
    changing_tool(id="watchlist.remove", **named("remove_from_watchlist"), destructive=True),
]
"""They read the list, add to it and remove from it; each returns the resulting list."""
