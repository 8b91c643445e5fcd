"""The provider `live`: stocks, funds and indexes from Yahoo, crypto pairs from one exchange, each behind its guard.
Neither replaces the other: an error of the one that is asked is returned.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import TypeVar

from contracts.symbols import Symbol, SymbolKind
from contracts.text import Text
from contracts.tools.market import Timeframe
from market_adapter.adapters.crypto_exchange import CryptoExchange
from market_adapter.adapters.guard import Guard
from market_adapter.adapters.yahoo import Yahoo, YahooChart, history_of
from market_adapter.domain.bars import BarHistory
from market_adapter.domain.facts import Event, Fundamentals, Headline
from market_adapter.domain.quotes import Quote, quote_from_daily, quote_from_hourly
from market_adapter.domain.timeframes import days_for_weeks, four_hourly, weekly
from market_adapter.errors import NoDataError, StaleDataError
from market_adapter.texts import TEXTS
from runtime.clock import Clock

AnswerT = TypeVar("AnswerT")
PRICE_SECONDS, FIGURE_SECONDS = 15.0, 3600.0
"""How long answers are cached: bars and quotes; reports, calendars and news."""
FIVE_YEARS_BARS = 1200
"""Five years have at least this many sessions; for more bars, the whole history is read."""
MAX_QUOTE_AGE = timedelta(days=7)
YAHOO_PER_MINUTE, EXCHANGE_PER_MINUTE = 60, 120


class LiveProvider:
    source = "live"

    def __init__(self, yahoo: Yahoo, exchange: CryptoExchange, clock: Clock) -> None:
        self._yahoo = yahoo
        self._exchange = exchange
        self._clock = clock
        self._stocks = Guard("Yahoo", clock, per_minute=YAHOO_PER_MINUTE)
        self._pairs = Guard(exchange.name, clock, per_minute=EXCHANGE_PER_MINUTE)

    def now(self) -> datetime:
        return self._clock.now()

    def note(self) -> Text | None:
        return None

    def symbols(self) -> Sequence[str]:
        return ()

    async def quote(self, symbol: Symbol) -> Quote:
        """The newest price. Raises StaleDataError if it is older than a week."""
        if symbol.kind is SymbolKind.PAIR:
            return quote_from_hourly(await self.bars(symbol, Timeframe.H1, 50), self.now())
        history = await self.daily_history(symbol, 2)
        if history.last.end < self.now() - MAX_QUOTE_AGE:
            text = TEXTS["source.too_old"].format(symbol=symbol, session=history.last.session)
            raise StaleDataError(symbol.name, text)
        return replace(quote_from_daily(history), as_of=history.as_of(self.now()))

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """The last daily bars, including that of the running session."""
        if symbol.kind is SymbolKind.PAIR:
            return await self.bars(symbol, Timeframe.D1, limit)
        return history_of(symbol, await self._daily(symbol, limit), limit)

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The bars of any of the seven timeframes, as far back as the source goes."""
        if symbol.kind is SymbolKind.PAIR:
            return await self._pair(symbol, timeframe, limit)
        if timeframe is Timeframe.D1:
            return await self.daily_history(symbol, limit)
        if timeframe is Timeframe.W1:
            return weekly(await self.daily_history(symbol, days_for_weeks(limit)), limit)
        if timeframe is Timeframe.H4:
            chart = await self._intraday(symbol, Timeframe.H1)
            hours = history_of(symbol, chart, len(chart.bars))
            return four_hourly(hours, lambda day: chart.opens[day], limit)
        return history_of(symbol, await self._intraday(symbol, timeframe), limit)

    async def bars_since(self, symbol: Symbol, moment: datetime) -> BarHistory | None:
        """Closed bars: of minutes if they reach back that far, otherwise of hours or days."""
        for timeframe in (Timeframe.M1, Timeframe.H1, Timeframe.D1):
            history = await self.bars(symbol, timeframe, 5000)
            if history.bars[0].time <= moment or timeframe is Timeframe.D1:
                new_bars = [bar for bar in history.bars if bar.time >= moment and bar.end <= self.now()]
                return replace(history, bars=new_bars) if new_bars else None
        return None

    async def load(self) -> None:
        """Imports the library for stocks and funds, so that the first request need not wait for it."""
        await self._yahoo.load()

    async def load_pairs(self) -> None:
        """Imports the library for crypto: five seconds of CPU, which slow down all requests meanwhile."""
        await self._exchange.load()

    async def fundamentals(self, symbol: Symbol) -> Fundamentals:
        """The trailing figures."""
        self._require_company(symbol)
        return await self._ask_yahoo(
            f"figures {symbol}", symbol.name, FIGURE_SECONDS, lambda: self._yahoo.fundamentals(symbol, self.now())
        )

    async def events(self, symbol: Symbol, until: date) -> Sequence[Event]:
        """The next results and the next dividend."""
        if symbol.kind is not SymbolKind.EQUITY:
            return ()
        today = self.now().date()
        events = await self._ask_yahoo(
            f"events {symbol}", symbol.name, FIGURE_SECONDS, lambda: self._yahoo.events(symbol, today)
        )
        return sorted((event for event in events if today < event.on <= until), key=lambda event: event.on)

    async def economic_events(self, until: date) -> Sequence[Event]:
        """Returns no events: neither source has a calendar of the economy."""
        return ()

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        self._require_company(symbol)
        headlines = await self._ask_yahoo(
            f"news {symbol}", symbol.name, FIGURE_SECONDS / 12, lambda: self._yahoo.headlines(symbol)
        )
        if not headlines:
            raise NoDataError(symbol.name, TEXTS["source.yahoo.no_headlines"].format(symbol=symbol))
        return headlines[:limit]

    async def _daily(self, symbol: Symbol, limit: int) -> YahooChart:
        period = "5y" if limit <= FIVE_YEARS_BARS else "max"
        return await self._ask_yahoo(
            f"{period} {symbol}", symbol.name, PRICE_SECONDS, lambda: self._yahoo.daily(symbol, period)
        )

    async def _intraday(self, symbol: Symbol, timeframe: Timeframe) -> YahooChart:
        return await self._ask_yahoo(
            f"{timeframe} {symbol}", symbol.name, PRICE_SECONDS, lambda: self._yahoo.intraday(symbol, timeframe)
        )

    async def _pair(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        await self._exchange.load()
        name = symbol.name
        await self._pairs.ask(f"markets {name}", name, FIGURE_SECONDS, lambda: self._exchange.load_markets(symbol))
        return await self._pairs.ask(
            f"{timeframe} {limit} {name}", name, PRICE_SECONDS, lambda: self._exchange.bars(symbol, timeframe, limit)
        )

    async def _ask_yahoo(
        self, key: str, ticker: str, seconds: float, request: Callable[[], Awaitable[AnswerT]]
    ) -> AnswerT:
        await self._yahoo.load()
        return await self._stocks.ask(key, ticker, seconds, request)

    def _require_company(self, symbol: Symbol) -> None:
        if symbol.kind is not SymbolKind.EQUITY:
            raise NoDataError(symbol.name, TEXTS["source.needs_a_company"].format(symbol=symbol))
