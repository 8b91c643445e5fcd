"""get_watchlist, add_to_watchlist, remove_from_watchlist."""

from contracts.envelope import Snake
from market_adapter.domain.asked import asked_symbol
from market_adapter.errors import RefusedError
from market_adapter.ports import MarketProvider, WatchlistStore
from market_adapter.tools.caller import CallBy
from market_adapter.tools.shapes import SymbolArguments
from market_adapter.tools.trading import NoArguments

MOST = 100


class WatchlistData(Snake):
    """Output of all three: the list as it is now, in the order in which it was made."""

    symbols: list[str]


class WatchlistTools:
    """A user's list of symbols."""

    def __init__(self, provider: MarketProvider, store: WatchlistStore) -> None:
        self._provider = provider
        self._store = store

    async def get_watchlist(self, _asked: NoArguments, by: CallBy) -> WatchlistData:
        """The list."""
        return WatchlistData(symbols=list(await self._store.symbols(by.owner)))

    async def add_to_watchlist(self, asked: SymbolArguments, by: CallBy) -> WatchlistData:
        """Adds a symbol that the provider knows; one that is in the list stays where it is."""
        symbol = asked_symbol(asked.symbol)
        await self._provider.quote(symbol)
        symbols = await self._store.add(by.owner, symbol.name, MOST)
        if symbols is None:
            text = f"a watchlist holds {MOST} symbols at most: remove some first"
            raise RefusedError(symbol.name, text, "too_many_symbols")
        return WatchlistData(symbols=list(symbols))

    async def remove_from_watchlist(self, asked: SymbolArguments, by: CallBy) -> WatchlistData:
        """Takes a symbol out; one that is not in the list changes nothing."""
        symbol = asked_symbol(asked.symbol)
        return WatchlistData(symbols=list(await self._store.remove(by.owner, symbol.name)))
