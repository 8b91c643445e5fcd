"""Finds old conversations, and stores the day of the last retention run (the row `keeping` of `meta`)."""

from datetime import UTC, datetime
from typing import Any

from pymongo import ASCENDING

from memory.adapters.mongo import store_errors
from runtime.stores.mongo import Database, Document

ROW = "keeping"
PAGE_SIZE = 1_000
KEPT_STATES = frozenset({"needs_human", "human", "snoozed"})
"""States in which a person works on a conversation, is asked for, or will return to it; it is kept until that ends."""


class MongoRetention:
    """Reads `conversations`, writes `meta`."""

    def __init__(self, database: Database) -> None:
        self._conversations = database["conversations"]
        self._meta = database["meta"]

    async def older(self, company: str, before: datetime, limit: int) -> list[str]:
        """Conversations in which nobody has written since then, oldest first, without those in KEPT_STATES."""
        conversations: list[str] = []
        after = f"{company}/"
        last = f"{company}/{before.astimezone(UTC).date().isoformat()}"
        fields = {"dayKey": 1, "startedAt": 1, "heardAt": 1, "saidAt": 1, "stateKey": 1}
        page_ids: set[str] = set()
        while len(conversations) < limit:
            query = {"dayKey": {"$gte": after, "$lte": last}}
            async with store_errors("look for old conversations"):
                rows = (
                    await self._conversations.find(query, fields).sort("dayKey", ASCENDING).limit(PAGE_SIZE).to_list()
                )
            new = [row for row in rows if row["_id"] not in page_ids]
            old = [row for row in new if _newest(row) < before and _state(row) not in KEPT_STATES]
            conversations += [str(row["_id"]).split("/", 1)[1] for row in old]
            if len(rows) < PAGE_SIZE or not new:
                break
            page_ids = {row["_id"] for row in rows}
            after = rows[-1]["dayKey"]
        return conversations[:limit]

    async def done(self, day: str) -> bool:
        async with store_errors("read the day of the last retention run"):
            row = await self._meta.find_one({"_id": ROW})
        return row is not None and row["day"] >= day

    async def finish(self, day: str) -> None:
        async with store_errors("store the day of the retention run"):
            await self._meta.replace_one({"_id": ROW}, {"_id": ROW, "day": day}, upsert=True)


def _state(row: Document) -> str:
    return str(row["stateKey"]).split("/", 1)[0].partition(":")[2]


def _newest(row: Document) -> datetime:
    times: list[Any] = [row.get(name) for name in ("startedAt", "heardAt", "saidAt")]
    return max(datetime.fromisoformat(time) for time in times if time)
