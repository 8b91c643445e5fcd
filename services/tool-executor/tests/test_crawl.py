"""A company's site read whole by a real executor on real servers: what is found, what is kept, what is told."""

from collections.abc import AsyncGenerator

import pytest
from nats.aio.client import Client

from contracts.company import Knowledge
from runtime.testing import ValkeyServer
from tool_executor.settings import ExecutorSettings
from tool_executor.testing import Served, running_executor, serving
from tool_executor.testing_sites import (
    SiteMemory,
    asked_for,
    counted,
    made_site,
)

FAST = ExecutorSettings(crawl_own_per_second=10_000)


@pytest.fixture
async def served() -> AsyncGenerator[Served]:
    async with serving() as site:
        yield site


@pytest.fixture
async def memory(
    served: Served, nats_client: Client, valkey_server: ValkeyServer, nats_streams: object
) -> AsyncGenerator[SiteMemory]:
    """Memory's part, and an executor that works for it."""
    del nats_streams
    remembering = SiteMemory(nats_client, Knowledge(site_url=f"{served.origin}/"))
    server = await remembering.serve()
    async with running_executor(nats_client, valkey_server.url, loopback=True, settings=FAST):
        yield remembering
    await server.drain(2.0)


async def test_a_site_is_found_from_its_first_page_and_each_page_is_asked_for_once(served: Served, memory: SiteMemory):
    made_site(served, 30)
    run = await memory.read()
    assert run.state == "finished"
    assert counted(run) == (30, 30, 0, 0, 0)
    assert len(memory.said()) == 30
    assert memory.said()["/page/bd"] == "This is what bd says."
    asked = asked_for(served)
    assert (asked.pop("/robots.txt"), asked.pop("/sitemap.xml")) == (1, 1)
    assert set(asked.values()) == {1}
    assert set(memory.told.values()) == {1}
