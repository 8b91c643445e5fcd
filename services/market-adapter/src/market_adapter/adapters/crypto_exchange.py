"""Crypto pairs from one exchange, by ccxt. The exchange is a setting, and never replaced by another one."""

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
from runtime.background import ignore_failure
from runtime.clock import SystemClock
from runtime.http.retry_after import seconds_in

MAX_BARS = 720
"""Bars in one answer (Kraken's limit)."""
REQUEST_MS = 3000
"""Deadline of a request: shorter than that of any tool."""


def is_known(name: str) -> bool:
    """Whether ccxt has this exchange. It looks for the exchange's file, because an import takes seconds."""
    library = find_spec("ccxt")
    if library is None or library.origin is None:
        return False
    return Path(library.origin).with_name("async_support").joinpath(f"{name}.py").is_file()


class CryptoExchange:
    """Reads market data from one exchange. Failures are MarketErrors."""

    def __init__(self, name: str, overrides: JsonObject | None = None) -> None:
        """`name`: one of ccxt's, e.g. kraken; `overrides`: settings of its class."""
        self.name = name
        self._clock = SystemClock()
        self._overrides = overrides or {}
        self._library: Any = None
        self._exchange: Any = None

    async def load(self) -> None:
        """Imports ccxt in a thread, since that takes seconds."""
        if self._library is None:
            self._library = await asyncio.to_thread(import_module, "ccxt.async_support")

    async def load_markets(self, symbol: Symbol) -> None:
        """Reads the exchange's markets, once; to be called after `load`."""
        exchange = self._loaded(symbol)
        if exchange.markets:
            return
        # A caller who stops waiting does not cancel it, since the library would never load the markets again. With
        # `reload` it also loads them again after an answer without any.
        loading: asyncio.Future[Any] = asyncio.ensure_future(exchange.load_markets(reload=True))
        loading.add_done_callback(ignore_failure)
        try:
            await asyncio.shield(loading)
        except Exception as error:
            raise self._as_market_error(symbol, error) from error
        if not exchange.markets:
            raise ProviderDownError(symbol.name, TEXTS["source.unreadable_markets"].format(name=self.name))

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> BarHistory:
        """The last bars, of which the newest may be incomplete; volume in units of the base currency. To be called
        after `load_markets`."""
        exchange = self._loaded(symbol)
        if symbol.name not in (exchange.markets or {}):
            raise self._not_listed(symbol)
        try:
            rows = await exchange.fetch_ohlcv(symbol.name, timeframe.value, limit=min(limit, MAX_BARS))
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
            # The list of currencies would be another request, and is not needed.
            self._exchange.has["fetchCurrencies"] = False
        return self._exchange

    def _bar(self, symbol: Symbol, row: list[Any], length: timedelta) -> Bar | None:
        """The bar of a row; None for a gap without trades. Raises ImplausibleError for an impossible price."""
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
            retry_after = next((headers[name] for name in headers if name.lower() == "retry-after"), None)
            return ProviderRateLimitedError(symbol.name, text, seconds_in(retry_after))
        if "BadSymbol" in kinds:
            return self._not_listed(symbol)
        text = TEXTS["source.no_answer"].format(name=self.name, symbol=symbol, error=type(error).__name__)
        return ProviderDownError(symbol.name, text)

    def _not_listed(self, symbol: Symbol) -> NoDataError:
        return NoDataError(symbol.name, TEXTS["source.not_listed"].format(name=self.name, symbol=symbol))
