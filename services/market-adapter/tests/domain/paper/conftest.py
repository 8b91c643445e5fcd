"""A database for accounts."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from market_adapter.adapters.mongo import bounded
from market_adapter.adapters.mongo_accounts import MongoAccounts
from runtime.testing.servers import MongoDatabase


@pytest.fixture
async def store(mongo_server: MongoDatabase) -> AsyncIterator[MongoAccounts]:
    client = AsyncMongoClient[dict[str, Any]](mongo_server.url)
    try:
        yield MongoAccounts(bounded(client[mongo_server.database]))
    finally:
        await client.close()
