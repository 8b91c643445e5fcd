"""get_watchlist, add_to_watchlist, remove_from_watchlist."""

from collections.abc import Sequence

from contracts.tools.arguments import NoArguments, SymbolArguments
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.domain.asked import asked_symbol
from market_adapter.errors import ActionRefusedError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import CallBy
from market_adapter.tools.shapes import Sourced
from market_adapter.tools.tool import tool

MOST = 100


class WatchlistData(Sourced):
    """Output of all three: the list as it is, in the order in which it was made. `source` is the provider that knows
    its symbols, `as_of` the market's present."""

    symbols: list[str]


class WatchlistTools:
    """A user's list of symbols."""

    def __init__(self, provider: MarketProvider, store: MongoWatchlists) -> None:
        self._provider = provider
        self._store = store

    @tool
    async def get_watchlist(self, _asked: NoArguments, by: CallBy) -> WatchlistData:
        return self._data(await self._store.symbols(by.owner))

    @tool
    async def add_to_watchlist(self, asked: SymbolArguments, by: CallBy) -> WatchlistData:
        """Adds a symbol that the provider knows; one that is in the list stays where it is."""
        if (made := await self.changed(by)) is not None:
            return made
        symbol = asked_symbol(asked.symbol)
        await self._provider.quote(symbol)
        symbols = await self._store.add(by.owner, symbol.name, MOST, by.call_id, by.check_time)
        if symbols is None:
            raise ActionRefusedError(symbol.name, TEXTS["watchlist.full"].format(most=MOST), "too_many_symbols")
        return self._data(symbols)

    @tool
    async def remove_from_watchlist(self, asked: SymbolArguments, by: CallBy) -> WatchlistData:
        """Takes a symbol out; one that is not in the list changes nothing."""
        symbol = asked_symbol(asked.symbol)
        return self._data(await self._store.remove(by.owner, symbol.name, by.call_id, by.check_time))

    async def changed(self, by: CallBy) -> WatchlistData | None:
        """The list as it is now, if this call has changed it."""
        symbols = await self._store.made(by.owner, by.call_id)
        return None if symbols is None else self._data(symbols)

    def _data(self, symbols: Sequence[str]) -> WatchlistData:
        return WatchlistData(symbols=list(symbols), source=self._provider.source, as_of=self._provider.now())
