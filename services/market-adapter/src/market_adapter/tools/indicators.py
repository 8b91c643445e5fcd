"""get_indicators."""

from dataclasses import replace

from contracts.tools.market import IndicatorArguments, IndicatorsData, Timeframe
from market_adapter.domain.bars import known_by
from market_adapter.domain.indicators import bars_for, converged, indicator
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.series import series_of
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.tools.tool import MarketTools, tool

BARS_PER_DAY = {Timeframe.H1: 24, Timeframe.H4: 6, Timeframe.D1: 1}
"""Bars in a day at most."""
MAX_BARS = 20_000
"""Bars of a symbol that are read for one answer at most."""


class IndicatorTools(MarketTools):
    @tool
    async def get_indicators(self, arguments: IndicatorArguments) -> IndicatorsData:
        """The requested indicators at the last bar."""
        timeframe = Timeframe(arguments.timeframe)
        symbol, bars_used = requested_symbol(arguments.symbol), bars_for(arguments.length)
        bars_read = bars_used
        if arguments.end is not None:
            days = max((self._provider.now().date() - arguments.end).days, 0)
            bars_read = min(bars_read + days * BARS_PER_DAY[timeframe], MAX_BARS)
        history = await self._provider.bars(symbol, timeframe, bars_read)
        if arguments.end is not None:
            history = known_by(history, arguments.end)
            history = replace(history, bars=history.bars[-bars_used:])
        series = series_of(history)
        await load_ta_lib()
        return IndicatorsData(
            symbol=history.symbol.name,
            timeframe=timeframe,
            warmup_bars=len(series) - 1,
            converged=converged(arguments.indicators, len(series), arguments.length),
            price=float(series.close[-1]),
            currency=history.currency,
            indicators={
                kind: indicator(kind, series, arguments.length, anchored=timeframe.intraday)
                for kind in arguments.indicators
            },
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )
