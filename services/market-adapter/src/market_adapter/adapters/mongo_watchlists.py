"""Watchlists in MongoDB: {_id: "company/user", company, user, version, symbols: [...]}, replaced by compare-and-set."""

from collections.abc import Callable, Sequence
from typing import Any

from pymongo.asynchronous.collection import AsyncCollection
from pymongo.asynchronous.database import AsyncDatabase
from pymongo.errors import DuplicateKeyError

from contracts.text import Text
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import BusyError

Document = dict[str, Any]
COLLECTION = "market_watchlists"
TRIES = 50
"""To change a list that is being changed elsewhere too."""


class MongoWatchlists:
    """Implements WatchlistStore. Every method raises PyMongoError when the server is away."""

    def __init__(self, database: AsyncDatabase[Document]) -> None:
        self._lists: AsyncCollection[Document] = database[COLLECTION]

    async def symbols(self, owner: Owner) -> Sequence[str]:
        """The list."""
        return (await self._load(owner))[0]

    async def add(self, owner: Owner, symbol: str, most: int) -> Sequence[str] | None:
        """With the symbol at its end, where it is new."""

        def added(symbols: list[str]) -> list[str]:
            return symbols if symbol in symbols or len(symbols) >= most else [*symbols, symbol]

        changed = await self._change(owner, added)
        return changed if symbol in changed else None

    async def remove(self, owner: Owner, symbol: str) -> Sequence[str]:
        """Without the symbol."""
        return await self._change(owner, lambda symbols: [one for one in symbols if one != symbol])

    async def forget(self, owner: Owner) -> int:
        """The whole list."""
        return (await self._lists.delete_one({"_id": str(owner)})).deleted_count

    async def _load(self, owner: Owner) -> tuple[list[str], int]:
        document = await self._lists.find_one({"_id": str(owner)})
        return ([], 0) if document is None else (document["symbols"], document["version"])

    async def _change(self, owner: Owner, change: Callable[[list[str]], list[str]]) -> list[str]:
        for _ in range(TRIES):
            symbols, version = await self._load(owner)
            changed = change(symbols)
            if changed == symbols or await self._save(owner, changed, version):
                return changed
        text = Text(
            es="esta lista está cambiando desde muchos sitios a la vez: prueba otra vez",
            en="this watchlist is being changed from many sides: try again",
        )
        raise BusyError("-", text)

    async def _save(self, owner: Owner, symbols: list[str], version: int) -> bool:
        key = {"_id": str(owner)}
        changed = {"company": owner.company, "user": owner.user, "version": version + 1, "symbols": symbols}
        if version == 0:
            try:
                await self._lists.insert_one({**key, **changed})
            except DuplicateKeyError:
                return False
            return True
        # Only what is said here: fields of a newer release stay.
        return (await self._lists.update_one({**key, "version": version}, {"$set": changed})).matched_count == 1
