"""The sample clock's session in MongoDB: one document, advanced by compare-and-set."""

from datetime import date

from pymongo.errors import DuplicateKeyError

from runtime.stores.mongo import Database

COLLECTION = "market_clock"
KEY = "sample"
DEMO, DEMO_ENDS = "demo", "demo-ends"
"""The demo market's clock, and the last session of its data, which the first start decides."""


class MongoSessionStore:
    """Stores the sample's current session in {_id: "sample", session: "2012-09-07"}: a date, not an index, so that it
    keeps its meaning when the sample data gains sessions.
    """

    def __init__(self, database: Database, key: str = KEY) -> None:
        self._key = key
        self._documents = database[COLLECTION]

    async def begin(self, session: date) -> date:
        """The stored session; stores this one if there is none yet. Raises PyMongoError if the server is
        unavailable."""
        document = await self._documents.find_one({"_id": self._key})
        if document is None:
            try:
                await self._documents.insert_one({"_id": self._key, "session": session.isoformat()})
            except DuplicateKeyError:
                # Another replica was first: its session counts.
                return await self.begin(session)
            return session
        return date.fromisoformat(document["session"])

    async def advance(self, current: date, next_session: date) -> bool:
        """Advances the document from `current` to the next session; returns False if it is not at `current`. Raises
        PyMongoError if the server is unavailable."""
        result = await self._documents.update_one(
            {"_id": self._key, "session": current.isoformat()}, {"$set": {"session": next_session.isoformat()}}
        )
        return result.matched_count == 1
