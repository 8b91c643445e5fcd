"""The provider `sample`: recorded bars and facts up to the sample clock's session. It never invents missing data.

After the last recorded session it replays recorded bars (sample_replay.py), and each answer says so. Facts are never
replayed: they remain those that were known at the last recorded session.
"""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta

from contracts.symbols import Symbol
from contracts.text import Text
from contracts.tools.market import Timeframe
from market_adapter.adapters.sample_facts import SampleFacts
from market_adapter.adapters.sample_files import SOURCE, SampleData, SampleSeries
from market_adapter.adapters.sample_replay import SampleReplay
from market_adapter.domain.bars import Bar, BarHistory, bars_from
from market_adapter.domain.facts import Event, Fundamentals, Headline, fundamentals_at, latest_report, upcoming
from market_adapter.domain.quotes import Quote, quote_from_daily
from market_adapter.domain.sample_clock import SampleClock
from market_adapter.domain.timeframes import days_for_weeks, weekly
from market_adapter.errors import NotInSampleError
from market_adapter.texts import TEXTS

CURRENCY = "USD"
SESSIONS_PER_YEAR = 260
"""Enough sessions to contain every dividend of the last twelve months."""


class SampleProvider:
    """Implements MarketProvider over files in memory."""

    def __init__(
        self, data: SampleData, facts: SampleFacts, clock: SampleClock, source: str = SOURCE, note: Text | None = None
    ) -> None:
        """`note`: a note for every answer, whether bars are replayed or not."""
        self.source = source
        self._note = note
        self._data = data
        self._facts = facts
        self._clock = clock
        self._replay = SampleReplay(data)

    def note(self) -> Text | None:
        """The note for every answer; it includes that the newest bars are replayed, if they are."""
        if not self._clock.replaying:
            return self._note
        until = self._clock.recorded_until
        if self._note is not None:
            return TEXTS["sample.replayed_after"].format(note=self._note, until=until)
        return TEXTS["sample.replayed"].format(until=until)

    def now(self) -> datetime:
        """The close of the clock's session."""
        return self._clock.now

    def symbols(self) -> Sequence[str]:
        return sorted(self._data.series)

    async def quote(self, symbol: Symbol) -> Quote:
        """The close of the clock's session."""
        return quote_from_daily(await self.daily_history(symbol, 2))

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """Bars, splits and dividends up to the clock's session."""
        series = self._series(symbol)
        end = self._clock.index - series.first + 1
        if end <= 0:
            first, today = series.bars[0].session, self._clock.session
            text = TEXTS["sample.no_bars_yet"].format(symbol=symbol, today=today, first=first)
            raise NotInSampleError(symbol.name, text)
        today = self._clock.session
        return BarHistory(
            symbol=symbol,
            currency=CURRENCY,
            source=series.source,
            bars=self._bars(series, max(0, end - limit), end),
            splits=tuple(split for split in series.splits if split.on <= today),
            dividends=tuple(dividend for dividend in series.dividends if dividend.on <= today),
        )

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """Daily bars, or weekly ones made of them; the sample has no intraday bars."""
        if timeframe is Timeframe.D1:
            return await self.daily_history(symbol, limit)
        if timeframe is not Timeframe.W1:
            self._series(symbol)
            raise NotInSampleError(symbol.name, TEXTS["sample.daily_only"].format(symbol=symbol, timeframe=timeframe))
        return weekly(await self.daily_history(symbol, days_for_weeks(limit)), limit)

    async def bars_since(self, symbol: Symbol, moment: datetime) -> BarHistory | None:
        """The daily bars of the sessions that opened at `moment` or later."""
        first_index = self._clock.first_from(moment.date() - timedelta(days=1))
        history = await self.daily_history(symbol, max(1, self._clock.index - first_index + 1))
        return bars_from(history, moment)

    async def fundamentals(self, symbol: Symbol) -> Fundamentals:
        """The last annual report published by then, combined with the session's close."""
        history = await self.daily_history(symbol, SESSIONS_PER_YEAR)
        if self._clock.replaying:
            # A replayed price has nothing to do with the company's earnings.
            history = replace(history, bars=self._series(symbol).bars[-SESSIONS_PER_YEAR:])
        report = latest_report(self._facts.reports.get(symbol.name, ()), history.last.session)
        if report is None:
            text = TEXTS["sample.no_report"].format(symbol=symbol, session=self._clock.session)
            raise NotInSampleError(symbol.name, text)
        return fundamentals_at(report, history)

    async def events(self, symbol: Symbol, until: date) -> Sequence[Event]:
        """The symbol's events that were known on the clock's date."""
        self._series(symbol)
        symbol_events = [event for event in self._facts.events if event.ticker == symbol.name]
        return upcoming(symbol_events, self._clock.session, until)

    async def economic_events(self, until: date) -> Sequence[Event]:
        """The events of the economy that were known on the clock's date."""
        return upcoming([event for event in self._facts.events if event.ticker is None], self._clock.session, until)

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        """The headlines that had been published by the clock's time."""
        self._series(symbol)
        published = [
            headline for headline in self._facts.headlines.get(symbol.name, ()) if headline.published <= self._clock.now
        ]
        if not published:
            text = TEXTS["sample.no_headlines"].format(symbol=symbol, session=self._clock.session)
            raise NotInSampleError(symbol.name, text)
        return sorted(published, key=lambda headline: headline.published, reverse=True)[:limit]

    def _bars(self, series: SampleSeries, first: int, end: int) -> tuple[Bar, ...]:
        """The ticker's bars from index `first` to before `end`: recorded ones, then replayed ones."""
        recorded = len(series.bars)
        replayed = [
            self._replay.bar(series.ticker, index - recorded + 1, *self._clock.hours(series.first + index))
            for index in range(max(first, recorded), end)
        ]
        return (*series.bars[first:end], *replayed)

    def _series(self, symbol: Symbol) -> SampleSeries:
        series = self._data.series.get(symbol.name)
        if series is None:
            available = ", ".join(self.symbols())
            raise NotInSampleError(symbol.name, TEXTS["sample.not_in_sample"].format(symbol=symbol, held=available))
        return series
