"""get_watchlist, add_to_watchlist, remove_from_watchlist."""

from collections.abc import Sequence

from contracts.tools.account import WatchlistData
from contracts.tools.arguments import NoArguments, SymbolArguments
from market_adapter.adapters.mongo_watchlists import MongoWatchlists
from market_adapter.domain.requested_symbol import requested_symbol
from market_adapter.errors import ActionRefusedError
from market_adapter.ports import MarketProvider
from market_adapter.texts import TEXTS
from market_adapter.tools.caller import ToolCaller
from market_adapter.tools.tool import tool

MAX_SYMBOLS = 100


class WatchlistTools:
    """Tools for a user's list of symbols."""

    def __init__(self, provider: MarketProvider, store: MongoWatchlists) -> None:
        self._provider = provider
        self._store = store

    @tool
    async def get_watchlist(self, _arguments: NoArguments, caller: ToolCaller) -> WatchlistData:
        return self._data(await self._store.symbols(caller.owner))

    @tool
    async def add_to_watchlist(self, arguments: SymbolArguments, caller: ToolCaller) -> WatchlistData:
        """Adds a symbol that the provider knows; one that is in the list already keeps its place."""
        if (existing := await self.changed(caller)) is not None:
            return existing
        symbol = requested_symbol(arguments.symbol)
        await self._provider.quote(symbol)
        symbols = await self._store.add(caller.owner, symbol.name, MAX_SYMBOLS, caller.call_id, caller.check_time)
        if symbols is None:
            raise ActionRefusedError(symbol.name, TEXTS["watchlist.full"].format(most=MAX_SYMBOLS), "too_many_symbols")
        return self._data(symbols)

    @tool
    async def remove_from_watchlist(self, arguments: SymbolArguments, caller: ToolCaller) -> WatchlistData:
        """Removes a symbol; one that is not in the list changes nothing."""
        symbol = requested_symbol(arguments.symbol)
        return self._data(await self._store.remove(caller.owner, symbol.name, caller.call_id, caller.check_time))

    async def changed(self, caller: ToolCaller) -> WatchlistData | None:
        """The list as it is now, if this call has changed it."""
        symbols = await self._store.symbols_if_changed_by(caller.owner, caller.call_id)
        return None if symbols is None else self._data(symbols)

    def _data(self, symbols: Sequence[str]) -> WatchlistData:
        return WatchlistData(symbols=list(symbols), source=self._provider.source, as_of=self._provider.now())
