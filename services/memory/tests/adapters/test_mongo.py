"""Conversations that a person began, from a collection with many."""

from pymongo import AsyncMongoClient

from memory.adapters.mongo import began_by, for_requests
from runtime.stores.mongo import Document
from runtime.testing.servers import MongoDatabase


async def test_those_that_belong_to_somebody_else_are_left_out(mongo_server: MongoDatabase) -> None:
    """However many of the latest they are."""
    async with AsyncMongoClient[Document](mongo_server.url) as client:
        rows = for_requests(client[mongo_server.database])["conversations"]
        for number in range(9):
            lent = {"visitorKey": f"acme:guest/{number}/c{number}"} if number in (2, 5, 6, 7, 8) else {}
            await rows.insert_one({"_id": f"acme/c{number}", "personKey": f"acme:ada/{number}/c{number}"} | lent)
        await rows.insert_one({"_id": "acme/other", "personKey": "acme:adam/1/other"})

        keys = [f"acme:ada/{number}/c{number}" for number in (4, 3, 1, 0)]
        assert [await began_by(rows, "acme:ada", many) for many in (1, 2, 3, 9)] == [keys[:1], keys[:2], keys[:3], keys]
        assert await began_by(rows, "acme:nobody", 2) == []
