"""The collection `ratings`: {_id: company/conversation/message/user, dayKey: company/day, rating, reason, at (ms)}.

A user's later rating of the same answer replaces the earlier one.
"""

from datetime import UTC, date

from pymongo import DESCENDING

from memory.adapters.mongo import store_errors, store_if_newer
from memory.domain.keys import moment
from memory.domain.rating import Rating
from runtime.stores.mongo import Collection


class MongoRatings:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def put(self, rating: Rating) -> None:
        """Stores a rating, unless a later one of the same answer by this user is stored."""
        day = rating.at.astimezone(UTC).date().isoformat()
        row = {
            "_id": f"{rating.company}/{rating.conversation}/{rating.message}/{rating.user}",
            "dayKey": f"{rating.company}/{day}",
            "rating": rating.given,
            "reason": rating.reason,
            "at": rating.at.timestamp() * 1000,
        }
        async with store_errors("store a rating"):
            await store_if_newer(self._rows, row)

    async def between(self, company: str, since: date, until: date, limit: int) -> list[Rating]:
        """The ratings given on these days, both included; latest days first."""
        query = {"dayKey": {"$gte": f"{company}/{since.isoformat()}", "$lte": f"{company}/{until.isoformat()}"}}
        async with store_errors("read ratings"):
            rows = await self._rows.find(query).sort("dayKey", DESCENDING).limit(limit).to_list()
        ratings: list[Rating] = []
        for row in rows:
            _, conversation, message, user = row["_id"].split("/", 3)
            rating = Rating(company, conversation, message, user, row["rating"], row["reason"], moment(row["at"]))
            ratings.append(rating)
        return ratings
