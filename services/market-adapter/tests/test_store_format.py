"""The market-adapter does not begin on a store that a newer release has written."""

import pytest
from pymongo import AsyncMongoClient

from market_adapter.adapters.mongo import bounded
from market_adapter.app import prepare_stores
from runtime.errors import NotReadyError
from runtime.stores.mongo import Document
from runtime.testing.servers import MongoDatabase


async def test_a_newer_store_is_refused_and_its_own_is_kept(mongo_server: MongoDatabase) -> None:
    client = AsyncMongoClient[Document](mongo_server.url)
    database = client[mongo_server.database]
    try:
        await prepare_stores(bounded(database))
        await prepare_stores(bounded(database))
        await database["meta"].update_one({"_id": "format"}, {"$set": {"format": 7, "release": "9.4.0"}})
        with pytest.raises(NotReadyError, match=r"start release 9\.4\.0 or newer"):
            await prepare_stores(bounded(database))
    finally:
        await client.close()
