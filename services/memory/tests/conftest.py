"""The real servers that memory needs, each test with its own."""

import pytest

from memory.testing.harness import Servers
from runtime.testing.servers import MongoDatabase, NatsServer, ValkeyServer


@pytest.fixture
def servers(nats_server: NatsServer, valkey_server: ValkeyServer, mongo_server: MongoDatabase) -> Servers:
    """All three."""
    return Servers(nats_server.url, mongo_server.url, mongo_server.database, valkey_server.url)


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is listed is as new as the log: that a projection which is late is not waited for is not what tests are
    about, and on a busy machine it is late."""
    monkeypatch.setattr("memory.application.inbox.PROJECTION_TIMEOUT_SECONDS", 20.0)
