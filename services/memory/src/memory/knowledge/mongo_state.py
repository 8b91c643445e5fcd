"""The collection `knowledge_state`: {_id: company, repeated, unsettled?}.

`repeated`: hashes of the blocks that most pages of the company's site contain. `unsettled`: since when (ms) new pages
have not been checked for that.
"""

from pymongo import ASCENDING

from memory.adapters.mongo import store_errors
from runtime.stores.mongo import Database


class SiteStateStore:
    """Every method raises StoreUnavailableError."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_state"]

    async def repeated(self, company: str) -> frozenset[int]:
        """Returns the blocks that are left out of the company's pages."""
        async with store_errors("read what pages repeat"):
            row = await self._rows.find_one({"_id": company})
        return frozenset(row.get("repeated", ())) if row else frozenset()

    async def unsettle(self, company: str, now: int) -> None:
        """Notes that pages were added or removed."""
        async with store_errors("mark a site as changed"):
            await self._rows.update_one({"_id": company}, {"$set": {"unsettled": now}}, upsert=True)

    async def unsettled(self, before: int, limit: int) -> list[tuple[str, int]]:
        """Returns companies whose site has had no new page since `before`, each with the time (ms) of its last
        change."""
        async with store_errors("read which sites have changed"):
            query = {"unsettled": {"$gt": 0, "$lt": before}}
            rows = await self._rows.find(query).sort("unsettled", ASCENDING).limit(limit).to_list()
        return [(row["_id"], row["unsettled"]) for row in rows]

    async def settle(self, company: str, changed_at: int, repeated: frozenset[int]) -> None:
        """Stores the repeated blocks; the site counts as checked unless it has changed after `changed_at`."""
        async with store_errors("store what pages repeat"):
            await self._rows.update_one({"_id": company}, {"$set": {"repeated": sorted(repeated)}}, upsert=True)
            await self._rows.update_one({"_id": company, "unsettled": changed_at}, {"$unset": {"unsettled": ""}})

    async def forget(self, company: str) -> int:
        """Deletes a company's state; returns how much."""
        async with store_errors("delete a site's state"):
            return (await self._rows.delete_one({"_id": company})).deleted_count
