"""Shared parts of the tools' results: snake_case, as models see them; figures are JSON numbers, unknown ones null."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from decimal import Decimal
from typing import TypeVar

from contracts.market_rpc import TickerError
from contracts.symbols import Symbol
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.errors import MarketError

DataT = TypeVar("DataT")


def number(value: Decimal | float | None, places: int | None = None) -> float | None:
    """A figure as a JSON number, rounded to `places` if given."""
    if value is None:
        return None
    return float(value) if places is None else round(float(value), places)


def amount(value: Decimal | float) -> int | float:
    """A number of shares or coins as a JSON number: an integer if it is whole."""
    return int(value) if value == int(value) else float(value)


async def per_ticker(
    tickers: Sequence[str], fetch: Callable[[Symbol], Awaitable[DataT]], language: str = "en"
) -> tuple[dict[str, DataT], list[TickerError]]:
    """Fetches the data of each ticker; returns them by the symbol's name, and the failures with messages in `language`.
    A ticker that fails does not affect the others."""
    symbols: dict[str, Symbol | MarketError] = {}
    for text in dict.fromkeys(tickers):
        try:
            symbol = requested_symbol(text)
            symbols[symbol.name] = symbol
        except MarketError as error:
            symbols[text] = error

    async def fetch_one(symbol: Symbol | MarketError) -> tuple[str, DataT] | MarketError:
        try:
            return symbol if isinstance(symbol, MarketError) else (symbol.name, await fetch(symbol))
        except MarketError as error:
            return error

    # Concurrently, so that a silent source costs one timeout in all, not one for each ticker.
    answers = await asyncio.gather(*(fetch_one(symbol) for symbol in symbols.values()))
    failures = [answer.as_entry(language) for answer in answers if isinstance(answer, MarketError)]
    return dict(answer for answer in answers if not isinstance(answer, MarketError)), failures
