"""Stocks, funds and indexes from Yahoo, by yfinance. Each of the library's many failures becomes a MarketError.

Yahoo's bars are split-adjusted to today: they are turned back into what was traded. Its daily bars carry dates only;
a session is taken to be 9:30 to 16:00 in the exchange's time zone.
"""

import asyncio
import math
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from fractions import Fraction
from importlib import import_module
from typing import Any, TypeVar
from zoneinfo import ZoneInfo

from contracts.symbols import Symbol, SymbolKind
from contracts.tools.market import Timeframe
from market_adapter.adapters.exchange_hours import HOME, Hours, Usual, exchange_of, hours_on
from market_adapter.adapters.plausible import check_bar, check_dividends, check_figures
from market_adapter.adapters.polite_session import Politeness
from market_adapter.domain.bars import Bar, BarHistory, Dividend, Split
from market_adapter.domain.facts import Event, EventKind, Fundamentals, Headline
from market_adapter.domain.splits import adjustment, scale_price, scale_volume
from market_adapter.errors import MarketError, NoDataError, ProviderDownError, ProviderRateLimitedError
from market_adapter.texts import TEXTS

SOURCE = "yahoo"
FIGURE_NAMES = {
    "pe": "trailingPE",
    "eps": "trailingEps",
    "revenue": "totalRevenue",
    "market_cap": "marketCap",
    "gross_margin": "grossMargins",
    "net_margin": "profitMargins",
    "dividend_yield": "trailingAnnualDividendYield",
    "beta": "beta",
}
"""Yahoo's names for our figures of a company."""
CALENDAR = "Yahoo Finance calendar"
INTERVALS = {
    Timeframe.M1: ("1m", "5d"),
    Timeframe.M5: ("5m", "1mo"),
    Timeframe.M15: ("15m", "1mo"),
    Timeframe.H1: ("60m", "1y"),
}
"""The interval's name there, and how far back it is asked for: their limits are 7, 60 and 730 days."""
OPENS, CLOSES = time(9, 30), time(16, 0)
DECIMALS = 6
THREADS = 8
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class YahooChart:
    """The content of Yahoo's chart of a symbol: raw bars, actions, currency."""

    bars: tuple[Bar, ...]
    splits: tuple[Split, ...]
    dividends: tuple[Dividend, ...]
    currency: str
    zone: ZoneInfo
    known_at: datetime | None
    """The time of the newest trade."""
    opens: Mapping[date, datetime]
    """The opening of each session of the bars."""


class Yahoo:
    """Asks Yahoo, in a thread because the library blocks. Failures are MarketErrors."""

    def __init__(self, session: Any = None) -> None:
        """`session`: a session of curl_cffi to use instead of a new one."""
        self._politeness = Politeness()
        self._session = None if session is None else self._politeness.on(session)
        self._library: Any = None
        self._loading = threading.Lock()
        # A thread of its own kind: one that hangs with a server must not keep others from theirs.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="yahoo")

    async def load(self) -> None:
        """Imports the library and the home exchange's calendar, which takes seconds, before anybody asks."""
        if self._library is None:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._loaded)

    def close(self) -> None:
        """Lets go of the threads; those that wait for a server end with their request."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def daily(self, symbol: Symbol, period: str) -> YahooChart:
        """Daily bars of a period such as 5y or max."""
        return await self._ask(symbol, lambda ticker: self._chart(symbol, ticker, "1d", period, None))

    async def intraday(self, symbol: Symbol, timeframe: Timeframe) -> YahooChart:
        """Bars of 1m, 5m, 15m or 1h, as far back as is sensible."""
        interval, period = INTERVALS[timeframe]
        return await self._ask(symbol, lambda ticker: self._chart(symbol, ticker, interval, period, timeframe.length))

    async def fundamentals(self, symbol: Symbol, now: datetime) -> Fundamentals:
        """Trailing figures; None where Yahoo has none."""
        info: Mapping[str, Any] = await self._ask(symbol, lambda ticker: ticker.info)
        if not info.get("quoteType"):
            raise _unknown(symbol)
        figures = {name: _decimal(info.get(theirs)) for name, theirs in FIGURE_NAMES.items()}
        check_figures("Yahoo", symbol, figures)
        return Fundamentals(
            period="trailing 12 months",
            **figures,
            currency=str(info.get("financialCurrency") or info.get("currency") or "USD"),
            source=SOURCE,
            report_source="Yahoo Finance, key statistics",
            as_of=min(_moment(info.get("regularMarketTime")) or now, now),
        )

    async def events(self, symbol: Symbol, today: date) -> list[Event]:
        """The next results and the next ex-dividend date, as Yahoo's calendar expects them."""
        calendar: dict[str, Any] = await self._ask(symbol, lambda ticker: ticker.calendar or {})
        results: list[date] = calendar.get("Earnings Date") or []
        found = [
            Event(
                on, f"{symbol} results", EventKind.EARNINGS, "high", today, False, "Yahoo Finance calendar", symbol.name
            )
            for on in results
        ]
        if ex_date := calendar.get("Ex-Dividend Date"):
            name = f"{symbol} ex-dividend"
            found.append(Event(ex_date, name, EventKind.DIVIDEND, "low", today, True, CALENDAR, symbol.name))
        return found

    async def headlines(self, symbol: Symbol) -> list[Headline]:
        items: list[dict[str, Any]] = await self._ask(symbol, lambda ticker: ticker.news or [])
        found: list[Headline] = []
        for item in items:
            content: dict[str, Any] = item.get("content") or {}
            provider: dict[str, Any] = content.get("provider") or {}
            link: dict[str, Any] = content.get("canonicalUrl") or {}
            title, published = content.get("title"), content.get("pubDate")
            if title and published:
                publisher, url = provider.get("displayName") or "Yahoo Finance", link.get("url")
                found.append(Headline(title, datetime.fromisoformat(published).astimezone(UTC), publisher, url))
        return sorted(found, key=lambda one: one.published, reverse=True)

    async def _ask(self, symbol: Symbol, question: Callable[[Any], AnswerT]) -> AnswerT:
        def ask() -> AnswerT:
            library = self._loaded()
            return question(library.Ticker(_their_name(symbol), session=self._session))

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except Exception as error:
            if self._politeness.waiting:
                # Whatever the library makes of it.
                raise _limited(symbol, self._politeness.told) from error
            if isinstance(error, MarketError):
                raise
            # The library raises its own classes, curl_cffi's, KeyErrors and more: all of it means no answer.
            raise _as_market_error(symbol, error) from error

    def _loaded(self) -> Any:
        with self._loading:
            return self._library or self._load()

    def _load(self) -> Any:
        if self._library is None:
            library: Any = import_module("yfinance")
            # It keeps time zones and cookies in files; ours shall leave nothing in a home directory.
            library.set_tz_cache_location(tempfile.mkdtemp(prefix="nexus-yahoo-"))
            library.config.debug.hide_exceptions = False
            if self._session is None:
                requests: Any = import_module("curl_cffi.requests")
                # As the library makes its own.
                self._session = self._politeness.on(requests.Session(impersonate="chrome"))
            hours_on(HOME, datetime.now(UTC).date(), (OPENS, CLOSES, ZoneInfo("America/New_York")))
            self._library = library
        return self._library

    def _chart(self, symbol: Symbol, ticker: Any, interval: str, period: str, length: timedelta | None) -> YahooChart:
        frame = ticker.history(period=period, interval=interval, auto_adjust=False, actions=True)
        about: Mapping[str, Any] = ticker.history_metadata
        zone = ZoneInfo(str(about.get("exchangeTimezoneName") or "America/New_York"))
        exchange, usual = exchange_of(symbol), _usual(about, zone)
        opens: dict[date, datetime] = {}
        splits: list[Split] = []
        dividends: list[Dividend] = []
        adjusted: list[Bar] = []
        for at, row in frame.iterrows():
            start = at.to_pydatetime()
            session = start.astimezone(zone).date()
            if row.get("Stock Splits"):
                splits.append(Split(session, Fraction(str(row["Stock Splits"])).limit_denominator(1000)))
            if math.isfinite(paid := row.get("Dividends") or 0) and paid > 0:
                dividends.append(Dividend(session, Decimal(str(round(float(paid), DECIMALS)))))
            figures = [float(row[name]) for name in ("Open", "High", "Low", "Close", "Volume")]
            # Yahoo leaves holes in what it has no trades for.
            if all(math.isfinite(figure) for figure in figures) and all(figures[:4]):
                check_bar("Yahoo", symbol, figures[:4], figures[4])
                hours = hours_on(exchange, session, usual)
                opens[session] = hours[0]
                adjusted.append(_bar(session, start, length, hours, figures))
        if not adjusted:
            raise NoDataError(symbol.name, TEXTS["source.yahoo.no_bars"].format(symbol=symbol, interval=interval))
        check_dividends("Yahoo", symbol, (one.amount for one in dividends), max(bar.high for bar in adjusted))
        bars = tuple(_as_traded(bar, tuple(splits)) for bar in adjusted)
        currency = str(about.get("currency") or "USD")
        known_at = _moment(about.get("regularMarketTime"))
        paid = tuple(replace(one, amount=_before(one.amount, tuple(splits), one.on)) for one in dividends)
        return YahooChart(bars, tuple(splits), paid, currency, zone, known_at, opens)


def history_of(symbol: Symbol, chart: YahooChart, limit: int) -> BarHistory:
    """The last bars of a chart."""
    return BarHistory(
        symbol, chart.currency, SOURCE, chart.bars[-limit:], chart.splits, chart.dividends, chart.known_at
    )


def _usual(about: Mapping[str, Any], zone: ZoneInfo) -> Usual:
    """The exchange's usual hours, as Yahoo tells them."""
    periods: Mapping[str, Any] = about.get("currentTradingPeriod") or {}
    period: Mapping[str, Any] = periods.get("regular") or {}
    opens, closes = _moment(period.get("start")), _moment(period.get("end"))
    if opens is None or closes is None:
        return OPENS, CLOSES, zone
    return opens.astimezone(zone).time(), closes.astimezone(zone).time(), zone


def _moment(value: Any) -> datetime | None:
    """A moment as Yahoo has it (seconds since the epoch) or as the library has made it (a time with its zone)."""
    if isinstance(value, datetime):
        return value.astimezone(UTC)
    if isinstance(value, int | float) and math.isfinite(value):
        return datetime.fromtimestamp(value, UTC)
    return None


def _bar(session: date, start: datetime, length: timedelta | None, hours: Hours, figures: list[float]) -> Bar:
    if length is None:
        opens, closes = hours
    else:
        opens = start.astimezone(UTC)
        closes = min(opens + length, hours[1])
        closes = closes if closes > opens else opens + length
    prices = [Decimal(str(round(figure, DECIMALS))) for figure in figures[:4]]
    return Bar(session, opens, closes, *prices, volume=int(figures[4]))


def _as_traded(bar: Bar, splits: tuple[Split, ...]) -> Bar:
    factor = adjustment(splits, bar.session, date.max)
    if factor == 1:
        return bar
    prices = [_before(price, splits, bar.session) for price in (bar.open, bar.high, bar.low, bar.close)]
    return Bar(bar.session, bar.time, bar.end, *prices, volume=scale_volume(bar.volume, 1 / factor))


def _before(money: Decimal, splits: tuple[Split, ...], session: date) -> Decimal:
    """An amount for each of today's shares, for each share of a session."""
    factor = adjustment(splits, session, date.max)
    return money if factor == 1 else scale_price(money, 1 / factor).quantize(Decimal("0.000001"))


def _their_name(symbol: Symbol) -> str:
    """BRK.B is BRK-B there; a foreign listing (VOD.L) keeps its dot."""
    head, dot, tail = symbol.name.partition(".")
    share_class = symbol.kind is SymbolKind.EQUITY and dot and tail in ("A", "B", "C")
    return f"{head}-{tail}" if share_class else symbol.name


def _decimal(value: Any) -> Decimal | None:
    if not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return Decimal(str(value))


def _as_market_error(symbol: Symbol, error: Exception) -> MarketError:
    kinds = {kind.__name__ for kind in type(error).__mro__}
    if "YFRateLimitError" in kinds or "429" in str(error):
        return _limited(symbol, None)
    if "YFTickerMissingError" in kinds or "YFInvalidPeriodError" in kinds or "404" in str(error):
        return _unknown(symbol)
    text = TEXTS["source.yahoo.no_answer"].format(symbol=symbol, error=type(error).__name__)
    return ProviderDownError(symbol.name, text)


def _limited(symbol: Symbol, seconds: float | None) -> ProviderRateLimitedError:
    return ProviderRateLimitedError(symbol.name, TEXTS["source.yahoo.wait_a_minute"], seconds)


def _unknown(symbol: Symbol) -> NoDataError:
    return NoDataError(symbol.name, TEXTS["source.yahoo.unknown"].format(symbol=symbol))
