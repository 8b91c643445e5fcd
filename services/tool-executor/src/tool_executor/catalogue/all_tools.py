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
        *market.tools(),
        *ranges.tools(),
        *news.tools(),
        *ml.tools(),
        *portfolio.tools(),
        *trading.tools(),
        *alerts.tools(),
        *calculate.tools(),
        *watchlist.tools(),
        *education.tools(),
        *memory.tools(),
        *knowledge.tools(),
        *site.tools(read_page),
    ]
