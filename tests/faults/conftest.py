"""One stack for the tests that break something, with a scripted model of configurable speed.

Each test has its own customer and begins with every process running: the supervisor restarts what a test kills, and the
next test uses it. The tests share one event loop with the model: each module says `pytestmark =
pytest.mark.asyncio(loop_scope="session")`.
"""

import uuid
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.scripted_model.server import ScriptedModel, scripted_model
from tests.support.running_stack import RunningStack

SETTINGS = {
    "aiAutoResponseEnabled": True,
    "responseDelayMs": 50,
    "toolConfig": {"enabledTools": ["get_price", "calculate_risk_reward"]},
}


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def scripted() -> AsyncIterator[ScriptedModel]:
    """The model's server."""
    async with scripted_model() as server:
        yield server


@pytest_asyncio.fixture(scope="package", loop_scope="session")
async def running(tmp_path_factory: pytest.TempPathFactory, scripted: ScriptedModel) -> AsyncIterator[RunningStack]:
    """The stack, with the company `acme`."""
    env = {**scripted.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "0"}
    with RunningStack(tmp_path_factory.mktemp("nexus"), env) as running:
        await running.create_company("acme", **SETTINGS)
        yield running


@pytest_asyncio.fixture(loop_scope="session")
async def stack(running: RunningStack) -> AsyncIterator[RunningStack]:
    """The stack; after the test every process has to be running again."""
    yield running
    await running.whole()


@pytest_asyncio.fixture(loop_scope="session")
async def model(stack: RunningStack, scripted: ScriptedModel) -> ScriptedModel:
    """The model, with an empty list of requests."""
    del stack
    scripted.asked.clear()
    return scripted


@pytest.fixture
def customer(stack: RunningStack) -> str:
    """The token of a customer of acme that only this test uses."""
    return stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", "acme")
