"""The real servers that memory needs, each test with its own."""

import pytest

from memory.testing import Servers
from runtime.testing import MongoDatabase, NatsServer, ValkeyServer


@pytest.fixture
def servers(nats_server: NatsServer, valkey_server: ValkeyServer, mongo_server: MongoDatabase) -> Servers:
    """All three."""
    return Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)
