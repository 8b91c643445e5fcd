"""Crypto pairs from one exchange by ccxt. Which one is a setting: what it does not list, no other stands in for."""

import math
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from importlib import import_module
from typing import Any

from contracts.symbols import Symbol
from contracts.text import Text
from market_adapter.domain.bars import Bar, History
from market_adapter.domain.timeframes import Timeframe
from market_adapter.errors import MarketError, NoDataError, NotConfiguredError, ProviderDownError, RateLimitedError

MOST = 720
"""Bars that one question brings (Kraken's limit)."""


class CryptoExchange:
    """Questions to one exchange. Failures are MarketErrors."""

    def __init__(self, name: str, overrides: dict[str, Any] | None = None) -> None:
        """`name`: one of ccxt's, e.g. kraken; `overrides`: settings of its class."""
        self.name = name
        self._overrides = overrides or {}
        self._exchange: Any = None

    async def bars(self, symbol: Symbol, timeframe: Timeframe, limit: int) -> History:
        """The last bars; the newest may not have closed. Volume in units of the base, rounded up."""
        exchange = self._loaded(symbol)
        try:
            await exchange.load_markets()
            if symbol.name not in exchange.markets:
                raise self._not_listed(symbol)
            rows = await exchange.fetch_ohlcv(symbol.name, timeframe.value, limit=min(limit, MOST))
        except MarketError:
            raise
        except Exception as error:
            raise self._as_market_error(symbol, error) from error
        if not rows:
            text = Text(
                es=f"{self.name} no tiene velas de {symbol} en {timeframe}",
                en=f"{self.name} has no bars of {symbol} in {timeframe}",
            )
            raise NoDataError(symbol.name, text)
        bars = tuple(_bar(row, timeframe.length) for row in rows[-limit:])
        return History(symbol, symbol.name.partition("/")[2], self.name, bars)

    async def close(self) -> None:
        """Ends its connections."""
        if self._exchange is not None:
            await self._exchange.close()

    def _loaded(self, symbol: Symbol) -> Any:
        if self._exchange is None:
            library: Any = import_module("ccxt.async_support")
            if self.name not in library.exchanges:
                text = Text(
                    es=f"ccxt no conoce ningún mercado {self.name!r}: pon en NEXUS_CRYPTO_EXCHANGE uno que conozca",
                    en=f"ccxt knows no exchange {self.name!r}: set NEXUS_CRYPTO_EXCHANGE to one that it knows",
                )
                raise NotConfiguredError(symbol.name, text)
            self._exchange = getattr(library, self.name)({"enableRateLimit": True, "timeout": 8000, **self._overrides})
        return self._exchange

    def _as_market_error(self, symbol: Symbol, error: Exception) -> MarketError:
        kinds = {kind.__name__ for kind in type(error).__mro__}
        if kinds & {"RateLimitExceeded", "DDoSProtection"}:
            text = Text(
                es=f"{self.name} pide que esperemos: prueba otra vez dentro de un minuto",
                en=f"{self.name} wants us to wait: try again in a minute",
            )
            return RateLimitedError(symbol.name, text)
        if "BadSymbol" in kinds:
            return self._not_listed(symbol)
        text = Text(
            es=f"{self.name} no ha respondido sobre {symbol} ({type(error).__name__})",
            en=f"{self.name} gave no answer for {symbol} ({type(error).__name__})",
        )
        return ProviderDownError(symbol.name, text)

    def _not_listed(self, symbol: Symbol) -> NoDataError:
        text = Text(es=f"en {self.name} no cotiza {symbol}", en=f"{self.name} does not list {symbol}")
        return NoDataError(symbol.name, text)


def _bar(row: list[Any], length: timedelta) -> Bar:
    start = datetime.fromtimestamp(row[0] / 1000, UTC)
    prices = [Decimal(str(price)) for price in row[1:5]]
    return Bar(start.date(), start, start + length, *prices, volume=math.ceil(row[5] or 0))
