"""The provider `sample`: recorded bars up to where the sample clock stands. What it has not, it says it has not."""

from contracts.symbols import Symbol
from market_adapter.adapters.sample_files import SampleData, Series
from market_adapter.domain.bars import History
from market_adapter.domain.quotes import Quote, quote_from_daily
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.errors import NotInSampleError

SOURCE = "sample"
CURRENCY = "USD"


class SampleProvider:
    """Implements MarketProvider over files in memory."""

    def __init__(self, data: SampleData, clock: SampleClock) -> None:
        self._data = data
        self._clock = clock

    async def quote(self, symbol: Symbol) -> Quote:
        """The close of the clock's session."""
        return quote_from_daily(await self.daily_history(symbol, 2))

    async def daily_history(self, symbol: Symbol, limit: int) -> History:
        """Bars, splits and dividends up to the clock's session."""
        series = self._series(symbol)
        end = self._clock.index - series.first + 1
        if end <= 0:
            raise NotInSampleError(
                symbol.name,
                f"{symbol} has no sample bars up to {self._clock.session}: its first is of {series.bars[0].session}",
            )
        today = self._clock.session
        return History(
            symbol=symbol,
            currency=CURRENCY,
            source=SOURCE,
            bars=series.bars[max(0, end - limit) : end],
            splits=tuple(split for split in series.splits if split.on <= today),
            dividends=tuple(dividend for dividend in series.dividends if dividend.on <= today),
        )

    def _series(self, symbol: Symbol) -> Series:
        series = self._data.series.get(symbol.name)
        if series is None:
            held = ", ".join(sorted(self._data.series))
            raise NotInSampleError(symbol.name, f"{symbol} is not in the sample data, which holds {held}")
        return series
