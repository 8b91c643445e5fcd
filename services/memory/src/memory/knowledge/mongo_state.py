"""The collection `knowledge_state`: {_id: company, repeated, unsettled?}.

`repeated`: hashes of the blocks that stand on most pages of the company's site. `unsettled`: since when (ms) pages have
come in after which that was not looked at.
"""

from pymongo import ASCENDING

from memory.adapters.mongo import speaking
from runtime.mongo import Database


class State:
    """Every method raises StoreUnavailable."""

    def __init__(self, database: Database) -> None:
        self._rows = database["knowledge_state"]

    async def repeated(self, company: str) -> frozenset[int]:
        """Blocks that are left out of the company's pages."""
        async with speaking("read what pages repeat"):
            row = await self._rows.find_one({"_id": company})
        return frozenset(row.get("repeated", ())) if row else frozenset()

    async def unsettle(self, company: str, now: int) -> None:
        """Pages have come in, or gone."""
        async with speaking("mark a site as changed"):
            await self._rows.update_one({"_id": company}, {"$set": {"unsettled": now}}, upsert=True)

    async def unsettled(self, before: int, limit: int) -> list[tuple[str, int]]:
        """Companies of whose site nothing has come in since a moment, and the mark."""
        async with speaking("read which sites have changed"):
            where = {"unsettled": {"$gt": 0, "$lt": before}}
            rows = await self._rows.find(where).sort("unsettled", ASCENDING).limit(limit).to_list()
        return [(row["_id"], row["unsettled"]) for row in rows]

    async def settle(self, company: str, mark: int, repeated: frozenset[int]) -> None:
        """What the pages repeat is this now."""
        async with speaking("store what pages repeat"):
            await self._rows.update_one({"_id": company}, {"$set": {"repeated": sorted(repeated)}}, upsert=True)
            await self._rows.update_one({"_id": company, "unsettled": mark}, {"$unset": {"unsettled": ""}})

    async def forget(self, company: str) -> int:
        """Deletes what is kept of a company; how much it was."""
        async with speaking("delete a site's state"):
            return (await self._rows.delete_one({"_id": company})).deleted_count
