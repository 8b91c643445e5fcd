"""The live provider beside scripted sources."""

from collections.abc import AsyncIterator

import pytest

from market_adapter.adapters.live_provider import LiveProvider
from market_adapter.testing.live import Script, scripted


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
