"""get_price and get_ohlcv."""

from dataclasses import replace
from datetime import date

from contracts.symbols import Symbol
from contracts.tools.arguments import SymbolArguments
from contracts.tools.market import BarData, OhlcvArguments, OhlcvData, PriceData
from market_adapter.domain.bars import Bar, BarHistory, known_by
from market_adapter.domain.quotes import Quote
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.domain.splits import split_adjusted
from market_adapter.domain.timeframes import is_closed
from market_adapter.errors import NoDataError
from market_adapter.texts import TEXTS
from market_adapter.tools.indicators import MAX_BARS
from market_adapter.tools.shapes import amount
from market_adapter.tools.tool import MarketTools, tool


def price_data(quote: Quote) -> PriceData:
    """A quote as get_price returns it."""
    return PriceData(
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


def bar_data(bar: Bar) -> BarData:
    """A bar as get_ohlcv returns it."""
    return BarData(
        time=bar.time,
        open=float(bar.open),
        high=float(bar.high),
        low=float(bar.low),
        close=float(bar.close),
        volume=amount(bar.volume),
    )


class PriceTools(MarketTools):
    @tool
    async def get_price(self, arguments: SymbolArguments) -> PriceData:
        """The latest price of one symbol, and its change."""
        return price_data(await self._provider.quote(requested_symbol(arguments.symbol)))

    @tool
    async def get_ohlcv(self, arguments: OhlcvArguments) -> OhlcvData:
        """The last bars of a timeframe: those that exist, and no more."""
        symbol = requested_symbol(arguments.symbol)
        if arguments.start is None and arguments.end is None:
            history = await self._provider.bars(symbol, arguments.timeframe, arguments.limit)
        else:
            history = await self._between(symbol, arguments)
        return OhlcvData(
            symbol=history.symbol.name,
            timeframe=arguments.timeframe,
            bars=[bar_data(bar) for bar in split_adjusted(history.bars, history.splits)],
            closed=is_closed(history.last, arguments.timeframe, self._provider.now()),
            currency=history.currency,
            source=history.source,
            as_of=history.as_of(self._provider.now()),
        )

    async def _between(self, symbol: Symbol, arguments: OhlcvArguments) -> BarHistory:
        """The last bars between two days, at most `limit`."""
        now = self._provider.now().date()
        first, last = arguments.start or date.min, arguments.end or now
        days = (now - arguments.start).days + 10 if arguments.start and not arguments.timeframe.intraday else MAX_BARS
        history = await self._provider.bars(symbol, arguments.timeframe, max(min(days, MAX_BARS), 1))
        history = known_by(history, last)
        adjusted = split_adjusted(history.bars, history.splits)
        bars = tuple(bar for bar in adjusted if first <= bar.session <= last)[-arguments.limit :]
        if not bars:
            all_bars = await self._provider.bars(symbol, arguments.timeframe, MAX_BARS)
            available = f"{all_bars.bars[0].session} – {all_bars.last.session}"
            raise NoDataError(symbol.name, TEXTS["market.no_bars"].format(symbol=symbol, have=available))
        return replace(history, bars=bars, splits=())
