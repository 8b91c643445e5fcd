"""The provider `files:DIR`: a company's own bars from a folder of CSV or Parquet files (bar_folder.py).

The market's current time is the close of the newest bar of any file, and never later than the real time: a bar that
closes later is not known yet. Changed files are read again while the service runs; if one is bad, its old bars stay.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path

import structlog

from contracts.symbols import Symbol, SymbolKind
from contracts.text import Text
from contracts.tools.market import Timeframe
from market_adapter.adapters.bar_folder import DEFAULT_HOURS, FileSeries, read_folder, reread_folder, signature_of
from market_adapter.adapters.bar_table import BadBarsError
from market_adapter.adapters.exchange_hours import exchange_of, hours_on
from market_adapter.domain.bars import BarHistory, bars_from
from market_adapter.domain.facts import Event, Fundamentals, Headline
from market_adapter.domain.quotes import Quote, quote_from_daily
from market_adapter.domain.timeframes import days_for_weeks, four_hourly, weekly
from market_adapter.errors import NoDataError, StaleDataError
from market_adapter.texts import TEXTS
from runtime.clock import Clock

SOURCE = "files"
MAX_QUOTE_AGE = timedelta(days=7)
"""A symbol whose last bar is this much older than the folder's newest one has no current price."""
HOURS_PER_BLOCK = 4
FINEST_FIRST = (Timeframe.M1, Timeframe.M5, Timeframe.M15, Timeframe.H1, Timeframe.D1)


class FilesProvider:
    """Implements MarketProvider over a folder."""

    source = SOURCE

    def __init__(self, folder: Path, clock: Clock) -> None:
        """Raises BadBarsError if the folder cannot be used; the message says what to correct."""
        self._folder_path = folder
        self._clock = clock
        self._signature = signature_of(folder)
        self._folder = read_folder(folder)
        self._log = structlog.get_logger()

    async def refresh(self) -> None:
        """Reads the folder again if anything in it has changed."""
        try:
            signature = await asyncio.to_thread(signature_of, self._folder_path)
            if signature == self._signature:
                return
            self._signature = signature
            self._folder, problems = await asyncio.to_thread(reread_folder, self._folder_path, self._folder)
            self._log.info("market.files.read", series=len(self._folder))
        except BadBarsError as error:
            problems = [str(error)]
        for error in problems:
            self._log.warning("market.files.bad", error=error, shown="what was read before")

    def now(self) -> datetime:
        """The close of the newest bar that is known."""
        wall_time = self._clock.now()
        ends = [series.bars[count - 1].end for series in self._folder.values() if (count := series.until(wall_time))]
        return max(ends, default=wall_time)

    def note(self) -> Text | None:
        """Returns None: the files are the company's own."""
        return None

    def symbols(self) -> Sequence[str]:
        return sorted({name for name, _ in self._folder})

    async def quote(self, symbol: Symbol) -> Quote:
        """The newest close. Raises StaleDataError if the file ends long before the others."""
        history = await self.daily_history(symbol, 2)
        if history.last.end < self.now() - MAX_QUOTE_AGE:
            text = TEXTS["source.files.too_old"].format(symbol=symbol, session=history.last.session)
            raise StaleDataError(symbol.name, text)
        return quote_from_daily(history)

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """The last daily bars, and the corporate actions up to then."""
        return self._history(self._series(symbol, Timeframe.D1), limit)

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The bars of the file of that timeframe; weekly bars are made of daily ones, 4h bars of hourly ones."""
        if timeframe is Timeframe.W1:
            return weekly(await self.daily_history(symbol, days_for_weeks(limit)), limit)
        if timeframe is Timeframe.H4:
            hours = self._history(self._series(symbol, Timeframe.H1), (limit + 1) * HOURS_PER_BLOCK)
            return four_hourly(hours, lambda day: self._opening(symbol, day), limit)
        return self._history(self._series(symbol, timeframe), limit)

    async def bars_since(self, symbol: Symbol, moment: datetime) -> BarHistory | None:
        """The bars of the finest file that reaches back that far."""
        for timeframe in FINEST_FIRST:
            series = self._folder.get((symbol.name, timeframe))
            if series is None or (series.bars[0].time > moment and timeframe is not Timeframe.D1):
                continue
            return bars_from(self._history(series, len(series.bars)), moment)
        self._series(symbol, Timeframe.D1)
        return None

    async def fundamentals(self, symbol: Symbol) -> Fundamentals:
        """Raises NoDataError: the files contain only bars."""
        raise self._only_bars_error(symbol)

    async def events(self, symbol: Symbol, until: date) -> Sequence[Event]:
        """Returns no events: the files contain only bars."""
        self._series(symbol, Timeframe.D1)
        return ()

    async def economic_events(self, until: date) -> Sequence[Event]:
        """Returns no events: the files contain only bars."""
        return ()

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        """Raises NoDataError: the files contain only bars."""
        raise self._only_bars_error(symbol)

    def _only_bars_error(self, symbol: Symbol) -> NoDataError:
        self._series(symbol, Timeframe.D1)
        return NoDataError(symbol.name, TEXTS["source.files.only_bars"].format(symbol=symbol))

    def _series(self, symbol: Symbol, timeframe: Timeframe) -> FileSeries:
        series = self._folder.get((symbol.name, timeframe))
        if series is not None:
            return series
        if (symbol.name, Timeframe.D1) in self._folder:
            text = TEXTS["source.files.no_such_timeframe"].format(timeframe=timeframe, symbol=symbol)
        else:
            names = self.symbols()
            listed = ", ".join(names[:30]) + (", …" if len(names) > 30 else "")
            text = TEXTS["source.files.not_in_files"].format(symbol=symbol, some=listed)
        raise NoDataError(symbol.name, text)

    def _history(self, series: FileSeries, limit: int) -> BarHistory:
        count = series.until(self._clock.now())
        if count == 0:
            raise NoDataError(series.symbol.name, TEXTS["source.files.not_closed_yet"].format(symbol=series.symbol))
        daily = self._folder.get((series.symbol.name, Timeframe.D1), series)
        today = series.bars[count - 1].session
        return BarHistory(
            symbol=series.symbol,
            currency=series.currency,
            source=SOURCE,
            bars=series.bars[max(0, count - limit) : count],
            splits=tuple(split for split in daily.splits if split.on <= today),
            dividends=tuple(dividend for dividend in daily.dividends if dividend.on <= today),
        )

    def _opening(self, symbol: Symbol, day: date) -> datetime:
        if symbol.kind is SymbolKind.PAIR:
            return datetime.combine(day, time(), UTC)
        return hours_on(exchange_of(symbol), day, DEFAULT_HOURS)[0]
