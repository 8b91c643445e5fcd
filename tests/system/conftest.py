"""One stack for the tests of this folder, which one worker runs; each test has its own visitors."""

import uuid
from collections.abc import AsyncIterator, Iterator

import aiohttp
import pytest

from gateway.testing.http import Http
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack


@pytest.fixture(scope="package")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningStack]:
    """The product as first started: no keys, the offline provider. The market stays on its last bar, when the whole
    sample has been published, so that all questions are about the same day."""
    with RunningStack(tmp_path_factory.mktemp("nexus"), env={"NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}) as running:
        yield running
    log = running.data / "logs" / "nats.log"
    # A bus of tests/support/containers.py has no such users and no log here.
    refused = [line for line in log.read_text().splitlines() if "Violation" in line] if log.exists() else []
    assert refused == [], "deploy/nats/nats.conf lacks a permission"


@pytest.fixture
async def visitor(stack: RunningStack) -> AsyncIterator[ChatClient]:
    """A new visitor who has been welcomed."""
    async with stack.visit(locale="en") as client:
        yield client


@pytest.fixture
async def http(stack: RunningStack) -> AsyncIterator[Http]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=90)) as session:
        yield Http(stack.url, session)


@pytest.fixture
async def company(stack: RunningStack, http: Http) -> str:
    """A company for one test, created by its admin."""
    name = f"co-{uuid.uuid4().hex[:12]}"
    settings = {"companyId": name, "aiAutoResponseEnabled": True, "responseDelayMs": 0}
    status, body, _ = await http("POST", "/v2/llm/config", token=stack.mint("admin", "root", name), json=settings)
    assert status == 201, body
    return name
