"""What the tests of the executor share."""

from collections.abc import AsyncGenerator

import pytest
from nats.aio.client import Client

from runtime.testing.servers import ValkeyServer
from tool_executor.testing.harness import ToolRequester, asking


@pytest.fixture
async def asker(nats_client: Client, valkey_server: ValkeyServer) -> AsyncGenerator[ToolRequester]:
    """Asks an executor that has the catalogue's tools alone."""
    async with asking(nats_client, valkey_server.url) as asker:
        yield asker
