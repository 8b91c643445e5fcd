"""get_price and get_ohlcv."""

from dataclasses import replace
from datetime import date, datetime

from contracts.envelope import Snake
from contracts.symbols import Symbol
from contracts.tools.arguments import SymbolArguments
from contracts.tools.market import OhlcvArguments, Timeframe
from market_adapter.domain.asked import asked_symbol
from market_adapter.domain.bars import Bar, BarHistory, known_by
from market_adapter.domain.quotes import Quote
from market_adapter.domain.splits import split_adjusted
from market_adapter.domain.timeframes import is_closed
from market_adapter.errors import NoDataError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.indicators import MOST_BARS
from market_adapter.tools.shapes import Sourced, amount
from market_adapter.tools.tool import tool


class PriceData(Sourced):
    """Output of get_price. `volume` is of the session so far; `change` and `change_percent` (2.5 = 2.5 %) are null
    when there is nothing to compare with; `as_of` is when the price was true, `source` who gave it.
    """

    symbol: str
    price: float
    change: float | None
    change_percent: float | None
    change_basis: str
    volume: int | float
    currency: str

    @classmethod
    def of(cls, quote: Quote) -> "PriceData":
        return cls(
            symbol=quote.symbol.name,
            price=float(quote.price),
            change=None if quote.change is None else float(quote.change),
            change_percent=None if quote.change_percent is None else float(quote.change_percent),
            change_basis=quote.change_basis.value,
            volume=amount(quote.volume),
            currency=quote.currency,
            as_of=quote.as_of,
            source=quote.source,
        )


class BarData(Snake):
    """One bar; `time` is its opening."""

    time: datetime
    open: float
    high: float
    low: float
    close: float
    volume: int | float

    @classmethod
    def of(cls, bar: Bar) -> "BarData":
        return cls(
            time=bar.time,
            open=float(bar.open),
            high=float(bar.high),
            low=float(bar.low),
            close=float(bar.close),
            volume=amount(bar.volume),
        )


class OhlcvData(Sourced):
    """Output of get_ohlcv, oldest bar first, in shares of the last one. `closed`: nothing more can happen in it."""

    symbol: str
    timeframe: Timeframe
    bars: list[BarData]
    closed: bool
    adjusted: str = "splits"
    currency: str


class PriceTools:
    def __init__(self, provider: MarketProvider) -> None:
        self._provider = provider

    @tool
    async def get_price(self, asked: SymbolArguments) -> PriceData:
        """The latest price of one symbol, and its change."""
        return PriceData.of(await self._provider.quote(asked_symbol(asked.symbol)))

    @tool
    async def get_ohlcv(self, asked: OhlcvArguments) -> OhlcvData:
        """The last bars of a timeframe: what the data has and no more."""
        symbol = asked_symbol(asked.symbol)
        if asked.start is None and asked.end is None:
            history = await self._provider.bars(symbol, asked.timeframe, asked.limit)
        else:
            history = await self._between(symbol, asked)
        return OhlcvData(
            symbol=history.symbol.name,
            timeframe=asked.timeframe,
            bars=[BarData.of(bar) for bar in split_adjusted(history.bars, history.splits)],
            closed=is_closed(history.last, asked.timeframe, self._provider.now()),
            currency=history.currency,
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )

    async def _between(self, symbol: Symbol, asked: OhlcvArguments) -> BarHistory:
        """The bars from one day to another, at most `limit`, the last ones."""
        now = self._provider.now().date()
        first, last = asked.start or date.min, asked.end or now
        days = (now - asked.start).days + 10 if asked.start and not asked.timeframe.intraday else MOST_BARS
        history = await self._provider.bars(symbol, asked.timeframe, max(min(days, MOST_BARS), 1))
        history = known_by(history, last)
        adjusted = split_adjusted(history.bars, history.splits)
        bars = tuple(bar for bar in adjusted if first <= bar.session <= last)[-asked.limit :]
        if not bars:
            known = await self._provider.bars(symbol, asked.timeframe, MOST_BARS)
            have = f"{known.bars[0].session} – {known.last.session}"
            raise NoDataError(symbol.name, TEXTS["market.no_bars"].format(symbol=symbol, have=have))
        return replace(history, bars=bars, splits=())
