"""Providers for tests: one with bars that the test chooses, and one that fails."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import pairwise

from contracts.symbols import Symbol
from contracts.text import Text
from contracts.tools.market import Timeframe
from market_adapter.domain.bars import Bar, BarHistory, Dividend, Split, bars_from
from market_adapter.domain.facts import Event, Fundamentals, Headline
from market_adapter.domain.quotes import Quote, quote_from_daily
from market_adapter.domain.timeframes import weekly
from market_adapter.errors import MarketError, NoDataError

FIRST_DAY = date(2024, 1, 1)


def bar(day: int, open_: str, high: str, low: str, close: str, volume: int = 1_000_000) -> Bar:
    """The bar of the day-th day from FIRST_DAY (every day is a session), 14:30 to 21:00 UTC."""
    session = FIRST_DAY + timedelta(days=day)
    return Bar(
        session,
        datetime.combine(session, time(14, 30), UTC),
        datetime.combine(session, time(21), UTC),
        Decimal(open_),
        Decimal(high),
        Decimal(low),
        Decimal(close),
        volume,
    )


def bars_of(closes: Sequence[float]) -> tuple[Bar, ...]:
    """Bars with these closes: each opens at the previous close, and its range extends 1 % beyond both."""
    bars: list[Bar] = []
    for day, (previous, close) in enumerate(pairwise([closes[0], *closes])):
        high, low = max(previous, close) * 1.01, min(previous, close) * 0.99
        bars.append(bar(day, f"{previous:.4f}", f"{high:.4f}", f"{low:.4f}", f"{close:.4f}", 1000))
    return tuple(bars)


class ScriptedProvider:
    """Implements MarketProvider: bars by ticker, of which the first `today` are visible."""

    source = "scripted"

    def __init__(
        self, bars: dict[str, Sequence[Bar]], splits: dict[str, tuple[Split, ...]] | None = None, today: int = 1
    ) -> None:
        self.all_bars = dict(bars)
        self.splits = splits or {}
        self.dividends: dict[str, tuple[Dividend, ...]] = {}
        self.today = today
        self.currency = "USD"

    def now(self) -> datetime:
        """The close of the newest visible bar."""
        return max(bars[min(self.today, len(bars)) - 1].end for bars in self.all_bars.values())

    def note(self) -> Text | None:
        """Returns no note."""
        return None

    def symbols(self) -> Sequence[str]:
        """The tickers of the script."""
        return sorted(self.all_bars)

    async def quote(self, symbol: Symbol) -> Quote:
        """The newest close."""
        return quote_from_daily(await self.daily_history(symbol, 2))

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """The visible bars."""
        if symbol.name not in self.all_bars:
            raise NoDataError(symbol.name, Text(es=f"{symbol} falta aquí", en=f"{symbol} is not in this script"))
        bars = self.all_bars[symbol.name][: self.today]
        last = bars[-1].session
        splits = tuple(split for split in self.splits.get(symbol.name, ()) if split.on <= last)
        dividends = tuple(dividend for dividend in self.dividends.get(symbol.name, ()) if dividend.on <= last)
        return BarHistory(symbol, self.currency, self.source, bars[-limit:], splits, dividends)

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """Daily or weekly bars."""
        history = await self.daily_history(symbol, limit)
        return weekly(history, limit) if timeframe is Timeframe.W1 else history

    async def bars_since(self, symbol: Symbol, moment: datetime) -> BarHistory | None:
        """The daily bars that opened at `moment` or later."""
        return bars_from(await self.daily_history(symbol, 100_000), moment)

    async def fundamentals(self, symbol: Symbol) -> Fundamentals:
        """None."""
        raise NoDataError(symbol.name, Text(es="sin cifras", en="no fundamentals in this script"))

    async def events(self, symbol: Symbol, until: date) -> Sequence[Event]:
        """None."""
        return ()

    async def economic_events(self, until: date) -> Sequence[Event]:
        """None."""
        return ()

    async def headlines(self, symbol: Symbol, limit: int) -> Sequence[Headline]:
        """None."""
        raise NoDataError(symbol.name, Text(es="sin titulares", en="no headlines in this script"))


class RefusingProvider(ScriptedProvider):
    """A provider that fails with one error."""

    def __init__(self, error: MarketError) -> None:
        super().__init__({"AAPL": (bar(0, "1", "1", "1", "1"),)})
        self._error = error

    async def daily_history(self, symbol: Symbol, limit: int) -> BarHistory:
        """Fails."""
        raise self._error
