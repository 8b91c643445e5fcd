"""Watchlists in MongoDB: {_id: "company/user", company, user, version, symbols: [...], calls: [...]}, replaced by
compare-and-set. `calls` are the ids of the last changes, by which a repeat is recognised even after later changes.
"""

from collections.abc import Callable, Sequence

from pymongo.errors import DuplicateKeyError

from market_adapter.adapters.mongo import owner_fields
from market_adapter.domain.paper.account import Owner
from market_adapter.errors import BusyError
from market_adapter.texts import TEXTS
from runtime.stores.mongo import Database, Document

COLLECTION = "market_watchlists"
MAX_ATTEMPTS = 50
"""How often changing a list is tried while others change it too."""
MAX_CALL_IDS = 100


class MongoWatchlists:
    """The watchlists in MongoDB. Every method raises PyMongoError if the server is unavailable. `check_time` is called
    before each write (ToolCaller.check_time)."""

    def __init__(self, database: Database) -> None:
        self._lists = database[COLLECTION]

    async def symbols(self, owner: Owner) -> Sequence[str]:
        return (await self._load(owner))[0]

    async def symbols_if_changed_by(self, owner: Owner, call: str) -> Sequence[str] | None:
        """The current list if this call has changed it, otherwise None."""
        symbols, calls, _ = await self._load(owner)
        return symbols if call in calls else None

    async def add(
        self, owner: Owner, symbol: str, limit: int, call: str, check_time: Callable[[], None]
    ) -> Sequence[str] | None:
        """Adds a new symbol at the end of the list; returns the list, or None if it is full."""

        def added(symbols: list[str]) -> list[str] | None:
            if symbol in symbols:
                return symbols
            return None if len(symbols) >= limit else [*symbols, symbol]

        return await self._change(owner, added, call, check_time)

    async def remove(self, owner: Owner, symbol: str, call: str, check_time: Callable[[], None]) -> Sequence[str]:
        return (
            await self._change(
                owner, lambda symbols: [listed for listed in symbols if listed != symbol], call, check_time
            )
            or []
        )

    async def forget(self, owner: Owner) -> int:
        return (await self._lists.delete_one({"_id": str(owner)})).deleted_count

    async def forget_company(self, company: str) -> int:
        """Deletes the lists of a company; `0` is the character after `/`."""
        query = {"_id": {"$gt": f"{company}/", "$lt": f"{company}0"}}
        return (await self._lists.delete_many(query)).deleted_count

    async def _load(self, owner: Owner) -> tuple[list[str], list[str], int]:
        document = await self._lists.find_one({"_id": str(owner)})
        if document is None:
            return [], [], 0
        return document["symbols"], document.get("calls", []), document["version"]

    async def _change(
        self, owner: Owner, change: Callable[[list[str]], list[str] | None], call: str, check_time: Callable[[], None]
    ) -> list[str] | None:
        """The list after the change; None if `change` refuses it."""
        for _ in range(MAX_ATTEMPTS):
            symbols, calls, version = await self._load(owner)
            if call in calls:
                return symbols
            changed = change(symbols)
            if changed is None:
                return None
            check_time()
            if await self._save(owner, changed, [*calls, call][-MAX_CALL_IDS:], version):
                return changed
        raise BusyError("-", TEXTS["watchlist.busy"])

    async def _save(self, owner: Owner, symbols: list[str], calls: list[str], version: int) -> bool:
        key = {"_id": str(owner)}
        changed: Document = {**owner_fields(owner), "version": version + 1, "symbols": symbols, "calls": calls}
        if version == 0:
            try:
                await self._lists.insert_one({**key, **changed})
            except DuplicateKeyError:
                return False
            return True
        # Only these fields are set: those of a newer release stay.
        return (await self._lists.update_one({**key, "version": version}, {"$set": changed})).matched_count == 1
