"""The collection `usage`: a company's usage, {_id: company/day/bucket, seen, turns, promptTokens, completionTokens,
cost, unpriced (tokens)}.

Each event is counted in a document that also contains its id, so it counts once (mongo_counters). A day is split into
buckets by turn, so that no document grows large and all calls of a turn are in the same one. No user is named: the cost
of a deleted user's turns stays in the company's account.
"""

import zlib
from collections.abc import Sequence
from datetime import date

from contracts.memory_rpc import UsageDay
from memory.adapters.mongo import store_errors
from memory.adapters.mongo_counters import Count, count_once
from memory.domain.keys import END
from memory.ports import Spent
from runtime.stores.mongo import Collection

BUCKETS = 16


class MongoUsage:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def add(self, spent: Sequence[Spent]) -> None:
        """Counts events, each once."""
        async with store_errors("count usage"):
            await count_once(self._rows, [_count(event) for event in spent])

    async def days(self, company: str, since: date, until: date) -> list[UsageDay]:
        """The days with usage between these, both included, oldest first."""
        query = {"_id": {"$gte": f"{company}/{since.isoformat()}/", "$lt": f"{company}/{until.isoformat()}/{END}"}}
        async with store_errors("read usage"):
            rows = await self._rows.find(query, {"seen": 0}).to_list()
        days: dict[date, UsageDay] = {}
        for row in sorted(rows, key=lambda row: str(row["_id"])):
            day = date.fromisoformat(row["_id"].split("/")[1])
            so_far = days.get(day) or UsageDay(date=day, turns=0, prompt_tokens=0, completion_tokens=0, cost=0)
            days[day] = UsageDay(
                date=day,
                turns=so_far.turns + len(row.get("turns", [])),
                prompt_tokens=so_far.prompt_tokens + row["promptTokens"],
                completion_tokens=so_far.completion_tokens + row["completionTokens"],
                cost=so_far.cost + row["cost"],
                # Documents of earlier releases lack this field.
                unpriced_tokens=(so_far.unpriced_tokens or 0) + row.get("unpriced", 0) or None,
            )
        return list(days.values())


def _count(spent: Spent) -> Count:
    bucket = zlib.crc32((spent.turn_id or spent.event_id).encode()) % BUCKETS
    add = {
        "promptTokens": spent.prompt_tokens,
        "completionTokens": spent.completion_tokens,
        "cost": spent.cost,
        "unpriced": spent.prompt_tokens + spent.completion_tokens if spent.unpriced else 0,
    }
    return Count(f"{spent.company}/{spent.day.isoformat()}/{bucket:02d}", spent.event_id, add, spent.turn_id)
