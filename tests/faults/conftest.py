"""One stack for the tests that break something, with a scripted model that thinks as long as it is told.

Each test has a customer of its own, and begins with everything up: what it kills the supervisor brings back, and the
next test finds out whether that is as good as new. They share one event loop with the model: each module says
`pytestmark = pytest.mark.asyncio(loop_scope="session")`.
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
    """The stack; after the test everything has to be up again."""
    yield running
    await running.whole()


@pytest_asyncio.fixture(loop_scope="session")
async def model(stack: RunningStack, scripted: ScriptedModel) -> ScriptedModel:
    """The model, which nobody has asked anything yet."""
    del stack
    scripted.asked.clear()
    return scripted


@pytest.fixture
def customer(stack: RunningStack) -> str:
    """The token of a customer of acme, of this test alone."""
    return stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", "acme")
