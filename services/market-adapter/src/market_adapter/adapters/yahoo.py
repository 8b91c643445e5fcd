"""Stocks, funds and indexes from Yahoo, by yfinance. Each of the library's many failures becomes a MarketError.

Yahoo's bars are split-adjusted to today, and are converted back to prices as traded. Its daily bars have only dates; if
the exchange's hours are unknown, a session is assumed to be 9:30 to 16:00 in the exchange's time zone.
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
from market_adapter.adapters.exchange_hours import HOME, DefaultHours, Hours, exchange_of, hours_on
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
"""Yahoo's names of a company's figures."""
INTERVALS = {
    Timeframe.M1: ("1m", "5d"),
    Timeframe.M5: ("5m", "1mo"),
    Timeframe.M15: ("15m", "1mo"),
    Timeframe.H1: ("60m", "1y"),
}
"""Yahoo's name of the interval, and the requested period; Yahoo's limits are 7, 60 and 730 days."""
OPENS, CLOSES = time(9, 30), time(16, 0)
DECIMALS = 6
THREADS = 8
AnswerT = TypeVar("AnswerT")


@dataclass(frozen=True, slots=True)
class YahooChart:
    """The content of Yahoo's chart of a symbol: bars as traded, corporate actions, currency."""

    bars: tuple[Bar, ...]
    splits: tuple[Split, ...]
    dividends: tuple[Dividend, ...]
    currency: str
    known_at: datetime | None
    """The time of the newest trade."""
    opens: Mapping[date, datetime]
    """The opening of each session of the bars."""


class Yahoo:
    """Reads market data from Yahoo, in threads because the library blocks. Failures are MarketErrors."""

    def __init__(self, session: Any = None) -> None:
        """`session`: a session of curl_cffi to use instead of a new one."""
        self._politeness = Politeness()
        self._session = None if session is None else self._politeness.wrap(session)
        self._library: Any = None
        self._loading = threading.Lock()
        # A pool of its own: threads that hang with a server must not block other work.
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="yahoo")

    async def load(self) -> None:
        """Imports the library and loads the home exchange's calendar, which takes seconds, ahead of the first
        request."""
        if self._library is None:
            await asyncio.get_running_loop().run_in_executor(self._threads, self._load_once)

    def close(self) -> None:
        """Shuts the threads down; those that wait for a server end with their request."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def daily(self, symbol: Symbol, period: str) -> YahooChart:
        """Daily bars of a period such as 5y or max."""
        return await self._ask(symbol, lambda ticker: self._chart(symbol, ticker, "1d", period, None))

    async def intraday(self, symbol: Symbol, timeframe: Timeframe) -> YahooChart:
        """Bars of 1m, 5m, 15m or 1h, as far back as INTERVALS says."""
        interval, period = INTERVALS[timeframe]
        return await self._ask(symbol, lambda ticker: self._chart(symbol, ticker, interval, period, timeframe.length))

    async def fundamentals(self, symbol: Symbol, now: datetime) -> Fundamentals:
        """The trailing figures; None if Yahoo has none."""
        info: Mapping[str, Any] = await self._ask(symbol, lambda ticker: ticker.info)
        if not info.get("quoteType"):
            raise _unknown(symbol)
        figures = {name: _decimal(info.get(yahoo_name)) for name, yahoo_name in FIGURE_NAMES.items()}
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
        days: list[date] = calendar.get("Earnings Date") or []
        name, source = f"{symbol} results", "Yahoo Finance calendar"
        events = [Event(day, name, EventKind.EARNINGS, "high", today, False, source, symbol.name) for day in days]
        if ex_date := calendar.get("Ex-Dividend Date"):
            name = f"{symbol} ex-dividend"
            events.append(Event(ex_date, name, EventKind.DIVIDEND, "low", today, True, source, symbol.name))
        return events

    async def headlines(self, symbol: Symbol) -> list[Headline]:
        items: list[dict[str, Any]] = await self._ask(symbol, lambda ticker: ticker.news or [])
        headlines: list[Headline] = []
        for item in items:
            content: dict[str, Any] = item.get("content") or {}
            provider: dict[str, Any] = content.get("provider") or {}
            link: dict[str, Any] = content.get("canonicalUrl") or {}
            title, published = content.get("title"), content.get("pubDate")
            if title and published:
                publisher, url = provider.get("displayName") or "Yahoo Finance", link.get("url")
                headlines.append(Headline(title, datetime.fromisoformat(published).astimezone(UTC), publisher, url))
        return sorted(headlines, key=lambda headline: headline.published, reverse=True)

    async def _ask(self, symbol: Symbol, read: Callable[[Any], AnswerT]) -> AnswerT:
        def ask() -> AnswerT:
            library = self._load_once()
            return read(library.Ticker(_yahoo_name(symbol), session=self._session))

        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        except Exception as error:
            if self._politeness.must_wait:
                # Whatever error the library has made of it.
                raise _limited(symbol, self._politeness.retry_after) from error
            if isinstance(error, MarketError):
                raise
            # The library raises errors of its own, of curl_cffi, KeyErrors and more: all of them mean no answer.
            raise _as_market_error(symbol, error) from error

    def _load_once(self) -> Any:
        with self._loading:
            if self._library is None:
                library: Any = import_module("yfinance")
                # The library stores time zones and cookies in files, which must not be in a home directory.
                library.set_tz_cache_location(tempfile.mkdtemp(prefix="nexus-yahoo-"))
                library.config.debug.hide_exceptions = False
                if self._session is None:
                    requests: Any = import_module("curl_cffi.requests")
                    # With the same options as the library's own session.
                    self._session = self._politeness.wrap(requests.Session(impersonate="chrome"))
                hours_on(HOME, datetime.now(UTC).date(), (OPENS, CLOSES, ZoneInfo("America/New_York")))
                self._library = library
            return self._library

    def _chart(self, symbol: Symbol, ticker: Any, interval: str, period: str, length: timedelta | None) -> YahooChart:
        frame = ticker.history(period=period, interval=interval, auto_adjust=False, actions=True)
        metadata: Mapping[str, Any] = ticker.history_metadata
        zone = ZoneInfo(str(metadata.get("exchangeTimezoneName") or "America/New_York"))
        exchange, default_hours = exchange_of(symbol), _default_hours(metadata, zone)
        opens: dict[date, datetime] = {}
        splits: list[Split] = []
        dividends: list[Dividend] = []
        adjusted_bars: list[Bar] = []
        for timestamp, row in frame.iterrows():
            start = timestamp.to_pydatetime()
            session = start.astimezone(zone).date()
            if row.get("Stock Splits"):
                splits.append(Split(session, Fraction(str(row["Stock Splits"])).limit_denominator(1000)))
            if math.isfinite(dividend_paid := row.get("Dividends") or 0) and dividend_paid > 0:
                dividends.append(Dividend(session, Decimal(str(round(float(dividend_paid), DECIMALS)))))
            figures = [float(row[name]) for name in ("Open", "High", "Low", "Close", "Volume")]
            # Yahoo leaves gaps where there were no trades.
            if all(math.isfinite(figure) for figure in figures) and all(figures[:4]):
                check_bar("Yahoo", symbol, figures[:4], figures[4])
                hours = hours_on(exchange, session, default_hours)
                opens[session] = hours[0]
                adjusted_bars.append(_bar(session, start, length, hours, figures))
        if not adjusted_bars:
            raise NoDataError(symbol.name, TEXTS["source.yahoo.no_bars"].format(symbol=symbol, interval=interval))
        check_dividends(
            "Yahoo", symbol, (dividend.amount for dividend in dividends), max(bar.high for bar in adjusted_bars)
        )
        bars = tuple(_as_traded(bar, tuple(splits)) for bar in adjusted_bars)
        currency = str(metadata.get("currency") or "USD")
        known_at = _moment(metadata.get("regularMarketTime"))
        dividend_paid = tuple(
            replace(dividend, amount=_per_old_share(dividend.amount, tuple(splits), dividend.on))
            for dividend in dividends
        )
        return YahooChart(bars, tuple(splits), dividend_paid, currency, known_at, opens)


def history_of(symbol: Symbol, chart: YahooChart, limit: int) -> BarHistory:
    """The last bars of a chart."""
    return BarHistory(
        symbol, chart.currency, SOURCE, chart.bars[-limit:], chart.splits, chart.dividends, chart.known_at
    )


def _default_hours(metadata: Mapping[str, Any], zone: ZoneInfo) -> DefaultHours:
    """The exchange's usual hours according to Yahoo."""
    periods: Mapping[str, Any] = metadata.get("currentTradingPeriod") or {}
    period: Mapping[str, Any] = periods.get("regular") or {}
    opens, closes = _moment(period.get("start")), _moment(period.get("end"))
    if opens is None or closes is None:
        return OPENS, CLOSES, zone
    return opens.astimezone(zone).time(), closes.astimezone(zone).time(), zone


def _moment(value: Any) -> datetime | None:
    """A time as Yahoo returns it (seconds since the epoch) or as the library converts it (a time with a zone)."""
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
    prices = [_per_old_share(price, splits, bar.session) for price in (bar.open, bar.high, bar.low, bar.close)]
    return Bar(bar.session, bar.time, bar.end, *prices, volume=scale_volume(bar.volume, 1 / factor))


def _per_old_share(money: Decimal, splits: tuple[Split, ...], session: date) -> Decimal:
    """Converts an amount per share of today to an amount per share of a session."""
    factor = adjustment(splits, session, date.max)
    return money if factor == 1 else scale_price(money, 1 / factor).quantize(Decimal("0.000001"))


def _yahoo_name(symbol: Symbol) -> str:
    """Yahoo's name of a symbol: BRK-B for BRK.B, but a foreign listing (VOD.L) keeps its dot."""
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
