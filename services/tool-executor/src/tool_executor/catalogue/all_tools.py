"""Every tool of every category, in a fixed order, so that the lists for models and clients stay the same."""

from tool_executor.catalogue import (
    alerts,
    calculate,
    education,
    knowledge,
    market,
    memory,
    ml,
    news,
    portfolio,
    ranges,
    site,
    trading,
    watchlist,
)
from tool_executor.domain.declaration import DeclaredTool
from tool_executor.ports import ReadPage


def all_tools(read_page: ReadPage) -> list[DeclaredTool]:
    """The declarations, unchecked: registry.build_registry checks them."""
    return [
        *market.TOOLS,
        *ranges.TOOLS,
        *news.TOOLS,
        *ml.TOOLS,
        *portfolio.TOOLS,
        *trading.TOOLS,
        *alerts.TOOLS,
        *calculate.TOOLS,
        *watchlist.TOOLS,
        *education.TOOLS,
        *memory.TOOLS,
        *knowledge.TOOLS,
        *site.tools(read_page),
    ]
