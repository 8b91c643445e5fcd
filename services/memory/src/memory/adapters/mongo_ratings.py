"""The collection `ratings`: {_id: company/conversation/message/user, dayKey: company/day, rating, reason, at (ms)}.

A user's later rating of the same answer replaces the earlier one.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from pymongo import DESCENDING

from contracts.events.fact import FeedbackGiven
from memory.adapters.mongo import store_errors, store_if_newer
from memory.domain.keys import moment
from runtime.stores.mongo import Collection, Document


@dataclass(frozen=True, slots=True)
class Rating:
    """A user's latest rating of an answer."""

    conversation: str
    message: str
    thumb: Literal["up", "down"]
    reason: str | None
    at: datetime


class MongoRatings:
    def __init__(self, collection: Collection) -> None:
        self._rows = collection

    async def put(self, company: str, user: str, rating: FeedbackGiven, at: datetime) -> None:
        """Stores a rating, unless a later one of the same answer by this user is stored."""
        row = {
            "_id": f"{company}/{rating.conversation_id}/{rating.message_id}/{user}",
            "dayKey": f"{company}/{at.astimezone(UTC).date().isoformat()}",
            "rating": rating.rating,
            "reason": rating.reason,
            "at": at.timestamp() * 1000,
        }
        async with store_errors("store a rating"):
            await store_if_newer(self._rows, row)

    async def between(self, company: str, since: date, until: date, limit: int) -> list[Rating]:
        """The ratings given on these days, both included; latest days first."""
        query = {"dayKey": {"$gte": f"{company}/{since.isoformat()}", "$lte": f"{company}/{until.isoformat()}"}}
        async with store_errors("read ratings"):
            rows = await self._rows.find(query).sort("dayKey", DESCENDING).limit(limit).to_list()
        return [_rating(row) for row in rows]


def _rating(row: Document) -> Rating:
    _, conversation, message, _ = row["_id"].split("/", 3)
    return Rating(conversation, message, row["rating"], row["reason"], moment(row["at"]))
