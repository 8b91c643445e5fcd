"""What the tests of the executor share."""

from collections.abc import AsyncGenerator

import pytest
from nats.aio.client import Client

from runtime.testing.servers import ValkeyServer
from tool_executor.adapters.redis_store import RedisStore
from tool_executor.crawl import pages, preparation
from tool_executor.testing.harness import Served, ToolRequester, asking, serving


@pytest.fixture
async def asker(nats_client: Client, valkey_server: ValkeyServer) -> AsyncGenerator[ToolRequester]:
    """Asks an executor that has the catalogue's tools alone."""
    async with asking(nats_client, valkey_server.url) as asker:
        yield asker


@pytest.fixture
async def store(valkey_server: ValkeyServer) -> AsyncGenerator[RedisStore]:
    """The executor's connection to Redis."""
    store = RedisStore(valkey_server.url, 1.0)
    yield store
    await store.close()


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    """A site on this machine."""
    async with serving() as site:
        yield site


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages and robots.txt are read again after a tenth of the time."""
    monkeypatch.setattr(pages, "RETRY_PAUSES", tuple(seconds / 10 for seconds in pages.RETRY_PAUSES))
    monkeypatch.setattr(preparation, "ROBOTS_PAUSE_SECONDS", preparation.ROBOTS_PAUSE_SECONDS / 10)
