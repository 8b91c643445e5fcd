"""Watchlists in MongoDB: {_id: "company/user", company, user, version, symbols: [...], calls: [...]}, replaced by
compare-and-set. `calls` are the ids of the last changes: a repeat is known by them, also after somebody has changed
the list again.
"""

from collections.abc import Callable, Sequence

from pymongo.errors import DuplicateKeyError

from market_adapter.domain.paper.account import Owner
from market_adapter.errors import BusyError
from market_adapter.texts import TEXTS
from runtime.stores.mongo import Database, Document

COLLECTION = "market_watchlists"
TRIES = 50
"""The number of tries to change a list that others are changing too."""
CALLS = 100


class MongoWatchlists:
    """The watchlists in MongoDB. Every method raises PyMongoError when the server is away."""

    def __init__(self, database: Database) -> None:
        self._lists = database[COLLECTION]

    async def symbols(self, owner: Owner) -> Sequence[str]:
        return (await self._load(owner))[0]

    async def made(self, owner: Owner, call: str) -> Sequence[str] | None:
        """The list, if this call has changed it."""
        symbols, calls, _ = await self._load(owner)
        return symbols if call in calls else None

    async def add(
        self, owner: Owner, symbol: str, most: int, call: str, check: Callable[[], None]
    ) -> Sequence[str] | None:
        """Adds the symbol at the end of the list, if it is new."""

        def added(symbols: list[str]) -> list[str] | None:
            if symbol in symbols:
                return symbols
            return None if len(symbols) >= most else [*symbols, symbol]

        return await self._change(owner, added, call, check)

    async def remove(self, owner: Owner, symbol: str, call: str, check: Callable[[], None]) -> Sequence[str]:
        return await self._change(owner, lambda symbols: [one for one in symbols if one != symbol], call, check) or []

    async def forget(self, owner: Owner) -> int:
        return (await self._lists.delete_one({"_id": str(owner)})).deleted_count

    async def forget_company(self, company: str) -> int:
        """The lists of a whole company; the sign behind `/` is the next one."""
        mine = {"_id": {"$gt": f"{company}/", "$lt": f"{company}0"}}
        return (await self._lists.delete_many(mine)).deleted_count

    async def _load(self, owner: Owner) -> tuple[list[str], list[str], int]:
        document = await self._lists.find_one({"_id": str(owner)})
        if document is None:
            return [], [], 0
        return document["symbols"], document.get("calls", []), document["version"]

    async def _change(
        self, owner: Owner, change: Callable[[list[str]], list[str] | None], call: str, check: Callable[[], None]
    ) -> list[str] | None:
        """The list afterwards; None when `change` makes none of it."""
        for _ in range(TRIES):
            symbols, calls, version = await self._load(owner)
            if call in calls:
                return symbols
            changed = change(symbols)
            if changed is None:
                return None
            check()
            if await self._save(owner, changed, [*calls, call][-CALLS:], version):
                return changed
        raise BusyError("-", TEXTS["watchlist.busy"])

    async def _save(self, owner: Owner, symbols: list[str], calls: list[str], version: int) -> bool:
        key, whose = {"_id": str(owner)}, {"company": owner.company, "user": owner.user}
        changed: Document = {**whose, "version": version + 1, "symbols": symbols, "calls": calls}
        if version == 0:
            try:
                await self._lists.insert_one({**key, **changed})
            except DuplicateKeyError:
                return False
            return True
        # Only what is said here: fields of a newer release stay.
        return (await self._lists.update_one({**key, "version": version}, {"$set": changed})).matched_count == 1
