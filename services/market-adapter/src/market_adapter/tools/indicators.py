"""get_indicators."""

from typing import Literal

from pydantic import Field

from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.indicators import BARS, Indicator, Values, converged, indicator
from market_adapter.domain.series import series_of
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.domain.timeframes import Timeframe
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import Sourced, SymbolArguments


class IndicatorArguments(SymbolArguments):
    """Input of get_indicators."""

    indicators: list[Indicator] = Field(min_length=1, max_length=9)
    timeframe: Literal["1h", "4h", "1d"] = "1d"


class IndicatorsData(Sourced):
    """Output of get_indicators: each at the last bar, on split-adjusted prices. `warmup_bars` came before it;
    `converged` is false while one of them still leans on where the history begins, by more than 1e-9 of its value."""

    symbol: str
    timeframe: Timeframe
    warmup_bars: int
    converged: bool
    price: float
    indicators: dict[Indicator, Values]


class IndicatorTools:
    """Technical indicators."""

    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    async def get_indicators(self, asked: IndicatorArguments) -> IndicatorsData:
        """The indicators asked for, at the last bar."""
        timeframe = Timeframe(asked.timeframe)
        history = await self._provider.bars(asked_symbol(asked.symbol), timeframe, BARS)
        series = series_of(history)
        await load_ta_lib()
        return IndicatorsData(
            symbol=history.symbol.name,
            timeframe=timeframe,
            warmup_bars=len(series) - 1,
            converged=converged(asked.indicators, len(series)),
            price=float(series.close[-1]),
            indicators={kind: indicator(kind, series, anchored=timeframe.intraday) for kind in asked.indicators},
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )
