"""One stack for the tests of a worker: they share it as customers do, each with its own visitors."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """The product as a newcomer starts it: no keys, the offline provider."""
    running = RunningStack(tmp_path_factory.mktemp("nexus"), env={})
    try:
        yield running.start()
    finally:
        running.stop()


@pytest.fixture
async def visitor(stack: RunningStack) -> AsyncIterator[ChatClient]:
    """A new visitor, connected and welcomed."""
    token, _ = await stack.visitor(locale="en")
    async with ChatClient(stack.url, token) as client:
        await client.hello(locale="en")
        yield client
