"""The live provider beside scripted sources, a database, and processes of the service."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from pymongo import AsyncMongoClient

from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.testing.live import Script, scripted
from market_adapter.testing.process import Stack
from runtime.testing.servers import MongoDatabase, NatsServer


@pytest.fixture
async def database(mongo_server: MongoDatabase) -> AsyncIterator[Any]:
    async with AsyncMongoClient[dict[str, Any]](mongo_server.url) as client:
        yield client[mongo_server.database]


@pytest.fixture
def stack(nats_server: NatsServer, mongo_server: MongoDatabase, tmp_path: Path) -> Stack:
    return Stack(nats_server, mongo_server, tmp_path)


@pytest.fixture
async def servers() -> AsyncIterator[tuple[Script, LiveProvider]]:
    async with scripted() as both:
        yield both


@pytest.fixture
def script(servers: tuple[Script, LiveProvider]) -> Script:
    return servers[0]


@pytest.fixture
def live(servers: tuple[Script, LiveProvider]) -> LiveProvider:
    return servers[1]
