"""Crypto pairs from one exchange, by ccxt. The exchange is a setting; no other one stands in for it."""

import asyncio
import math
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from contracts.json_values import JsonObject
from contracts.symbols import Symbol
from contracts.tools.market import Timeframe
from market_adapter.adapters.plausible import check_bar
from market_adapter.domain.bars import Bar, BarHistory
from market_adapter.errors import (
    MarketError,
    NoDataError,
    NotConfiguredError,
    ProviderDownError,
    ProviderRateLimitedError,
)
from market_adapter.texts import TEXTS
from runtime.clock import SystemClock
from runtime.http.retry_after import seconds_in

MOST = 720
"""Bars that one question brings (Kraken's limit)."""
REQUEST_MS = 3000
"""A request's limit: below that of any tool."""


def is_known(name: str) -> bool:
    """Whether ccxt has this exchange; looks for its file, because an import takes seconds."""
    library = find_spec("ccxt")
    if library is None or library.origin is None:
        return False
    return Path(library.origin).with_name("async_support").joinpath(f"{name}.py").is_file()


class CryptoExchange:
    """Asks one exchange. Failures are MarketErrors."""

    def __init__(self, name: str, overrides: JsonObject | None = None) -> None:
        """`name`: one of ccxt's, e.g. kraken; `overrides`: settings of its class."""
        self.name = name
        self._clock = SystemClock()
        self._overrides = overrides or {}
        self._library: Any = None
        self._exchange: Any = None

    async def load(self) -> None:
        """Imports the library, in a thread: it takes seconds."""
        if self._library is None:
            self._library = await asyncio.to_thread(import_module, "ccxt.async_support")

    async def load_markets(self, symbol: Symbol) -> None:
        """Asks once what the exchange lists; after `load`."""
        exchange = self._loaded(symbol)
        if exchange.markets:
            return
        # Whoever gives up waiting does not end it: the library would never load them again. Nor would it, unless it is
        # told to, after an answer in which it found none.
        loading: asyncio.Future[Any] = asyncio.ensure_future(exchange.load_markets(reload=True))
        loading.add_done_callback(_seen)
        try:
            await asyncio.shield(loading)
        except Exception as error:
            raise self._as_market_error(symbol, error) from error
        if not exchange.markets:
            raise ProviderDownError(symbol.name, TEXTS["source.unreadable_markets"].format(name=self.name))

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The last bars; the newest may not have closed. Volume in units of the base. After `load_markets`."""
        exchange = self._loaded(symbol)
        if symbol.name not in (exchange.markets or {}):
            raise self._not_listed(symbol)
        try:
            rows = await exchange.fetch_ohlcv(symbol.name, timeframe.value, limit=min(limit, MOST))
        except Exception as error:
            raise self._as_market_error(symbol, error) from error
        known_at = self._clock.now()
        bars = tuple(bar for row in rows[-limit:] if (bar := self._bar(symbol, row, timeframe.length)) is not None)
        if not bars:
            text = TEXTS["source.no_bars_in"].format(name=self.name, symbol=symbol, timeframe=timeframe)
            raise NoDataError(symbol.name, text)
        return BarHistory(symbol, symbol.name.partition("/")[2], self.name, bars, known_at=known_at)

    async def close(self) -> None:
        if self._exchange is not None:
            await self._exchange.close()

    def _loaded(self, symbol: Symbol) -> Any:
        if self._exchange is None:
            if self.name not in self._library.exchanges:
                raise NotConfiguredError(symbol.name, TEXTS["source.no_such_exchange"].format(name=self.name))
            settings = {"enableRateLimit": True, "timeout": REQUEST_MS, **self._overrides}
            self._exchange = getattr(self._library, self.name)(settings)
            # Which currencies there are is a question more, and of no use here.
            self._exchange.has["fetchCurrencies"] = False
        return self._exchange

    def _bar(self, symbol: Symbol, row: list[Any], length: timedelta) -> Bar | None:
        """None: a hole, in which nothing was traded. Raises ImplausibleError for a price that cannot be."""
        start = datetime.fromtimestamp(row[0] / 1000, UTC)
        volume = row[5] or 0
        if not all(price and not math.isnan(price) for price in row[1:5]) or not 0 <= volume < math.inf:
            return None
        check_bar(self.name, symbol, row[1:5], volume)
        prices = [Decimal(str(price)) for price in row[1:5]]
        return Bar(start.date(), start, start + length, *prices, volume=Decimal(str(volume)))

    def _as_market_error(self, symbol: Symbol, error: Exception) -> MarketError:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if kinds & {"RateLimitExceeded", "DDoSProtection"}:
            text = TEXTS["source.wait_a_minute"].format(name=self.name)
            headers: Mapping[str, str] = self._exchange.last_response_headers or {}
            told = next((headers[name] for name in headers if name.lower() == "retry-after"), None)
            return ProviderRateLimitedError(symbol.name, text, seconds_in(told))
        if "BadSymbol" in kinds:
            return self._not_listed(symbol)
        text = TEXTS["source.no_answer"].format(name=self.name, symbol=symbol, error=type(error).__name__)
        return ProviderDownError(symbol.name, text)

    def _not_listed(self, symbol: Symbol) -> NoDataError:
        return NoDataError(symbol.name, TEXTS["source.not_listed"].format(name=self.name, symbol=symbol))


def _seen(done: asyncio.Future[Any]) -> None:
    """Consumes the result, since nobody may be waiting for it any more."""
    if not done.cancelled():
        done.exception()
