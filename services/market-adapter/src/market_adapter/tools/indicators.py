"""get_indicators."""

from dataclasses import replace

from contracts.tools.market import Indicator, IndicatorArguments, Timeframe
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.bars import known_by
from market_adapter.domain.indicators import Values, bars_for, converged, indicator
from market_adapter.domain.series import series_of
from market_adapter.domain.ta_lib import load_ta_lib
from market_adapter.ports import MarketProvider
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool

A_DAY = {Timeframe.H1: 24, Timeframe.H4: 6, Timeframe.D1: 1}
"""Bars of a day, at most."""
MOST_BARS = 20_000
"""The most bars of a symbol that are read for one answer."""


class IndicatorsData(Sourced):
    """Output of get_indicators: each at the last bar up to `end`, on split-adjusted prices. `warmup_bars` came before
    it; `converged` is false while one of them still leans on where the history begins, by more than 1e-9 of its
    value."""

    symbol: str
    timeframe: Timeframe
    warmup_bars: int
    converged: bool
    price: float
    currency: str
    indicators: dict[Indicator, Values]


class IndicatorTools:
    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    @tool
    async def get_indicators(self, asked: IndicatorArguments) -> IndicatorsData:
        """The indicators asked for, at the last bar."""
        timeframe = Timeframe(asked.timeframe)
        symbol, used = asked_symbol(asked.symbol), bars_for(asked.length)
        wanted = used
        if asked.end is not None:
            days = max((self._provider.now().date() - asked.end).days, 0)
            wanted = min(wanted + days * A_DAY[timeframe], MOST_BARS)
        history = await self._provider.bars(symbol, timeframe, wanted)
        if asked.end is not None:
            history = known_by(history, asked.end)
            history = replace(history, bars=history.bars[-used:])
        series = series_of(history)
        await load_ta_lib()
        return IndicatorsData(
            symbol=history.symbol.name,
            timeframe=timeframe,
            warmup_bars=len(series) - 1,
            converged=converged(asked.indicators, len(series), asked.length),
            price=float(series.close[-1]),
            currency=history.currency,
            indicators={
                kind: indicator(kind, series, asked.length, anchored=timeframe.intraday) for kind in asked.indicators
            },
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )
