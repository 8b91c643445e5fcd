"""What the shapes of the tools share: snake_case, as models see them; figures are JSON numbers, and unknown ones
null."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import TypeVar

from contracts.envelope import Snake
from contracts.symbols import Symbol
from market_adapter.domain.asked import asked_symbol
from market_adapter.errors import MarketError

DataT = TypeVar("DataT")


class Sourced(Snake):
    """Every answer about the market says where its figures are from, and of when they are."""

    source: str
    as_of: datetime


class FailureData(Snake):
    """A ticker that could not be answered, among others that could."""

    error: str
    ticker: str
    reason: str


def number(value: Decimal | float | None, places: int | None = None) -> float | None:
    """A figure as JSON has it, rounded to `places` when given."""
    if value is None:
        return None
    return float(value) if places is None else round(float(value), places)


def amount(value: Decimal | float) -> int | float:
    """A number of shares or coins as JSON has it: whole where it is."""
    return int(value) if value == int(value) else float(value)


async def per_ticker(
    tickers: Sequence[str], ask: Callable[[Symbol], Awaitable[DataT]], language: str = "en"
) -> tuple[dict[str, DataT], list[FailureData]]:
    """The answer for each ticker, by its internal form, and what failed, in words of that language: one that
    fails does not keep the others from answering."""
    asked: dict[str, Symbol | MarketError] = {}
    for text in dict.fromkeys(tickers):
        try:
            symbol = asked_symbol(text)
            asked[symbol.name] = symbol
        except MarketError as error:
            asked[text] = error

    async def answer(symbol: Symbol | MarketError) -> tuple[str, DataT] | MarketError:
        try:
            return symbol if isinstance(symbol, MarketError) else (symbol.name, await ask(symbol))
        except MarketError as error:
            return error

    # At once: a source that is silent costs one patience, and not one a ticker.
    answers = await asyncio.gather(*(answer(symbol) for symbol in asked.values()))
    failed = [FailureData(**one.as_entry(language)) for one in answers if isinstance(one, MarketError)]
    return dict(one for one in answers if not isinstance(one, MarketError)), failed
