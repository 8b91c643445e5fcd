"""A tool that the market-adapter serves takes and returns the models from which the catalogue makes its schemas."""

from collections.abc import Callable
from inspect import signature
from typing import get_type_hints

import pytest

from contracts.tools.arguments import input_schema
from contracts.tools.results import output_schema
from market_adapter.tools.alerts import AlertTools
from market_adapter.tools.hours import HoursTools
from market_adapter.tools.indicators import IndicatorTools
from market_adapter.tools.news import NewsTools
from market_adapter.tools.portfolio import PortfolioTools
from market_adapter.tools.prices import PriceTools
from market_adapter.tools.ranges import RangeTools
from market_adapter.tools.research import ResearchTools
from market_adapter.tools.signals import SignalTools
from market_adapter.tools.tool import is_tool
from market_adapter.tools.trading import TradingTools
from market_adapter.tools.watchlists import WatchlistTools
from tool_executor.catalogue import alerts, market, ml, news, portfolio, ranges, trading, watchlist
from tool_executor.domain.declaration import OverTheBus

CLASSES = (
    AlertTools,
    HoursTools,
    IndicatorTools,
    NewsTools,
    PortfolioTools,
    PriceTools,
    RangeTools,
    ResearchTools,
    SignalTools,
    TradingTools,
    WatchlistTools,
)
SERVED = {name: method for served in CLASSES for name, method in vars(served).items() if is_tool(method)}
DECLARED = {
    tool.name: tool
    for module in (alerts, market, ml, news, portfolio, ranges, trading, watchlist)
    for tool in module.TOOLS
    if isinstance(tool.handler, OverTheBus)
}


def test_what_is_served_is_declared() -> None:
    assert set(SERVED) == set(DECLARED)


@pytest.mark.parametrize("name", DECLARED)
def test_a_tool_is_declared_by_the_models_that_it_is_served_with(name: str) -> None:
    method: Callable[..., object] = SERVED[name]
    hints = get_type_hints(method)
    _, arguments, *_ = signature(method).parameters
    assert DECLARED[name].input_schema == input_schema(hints[arguments])
    assert DECLARED[name].output_schema == output_schema(hints["return"])
