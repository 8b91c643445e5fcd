"""A stack of its own for each test that breaks something, with a scripted model that thinks as long as it is told."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from agent.scripted_model.server import ScriptedModel, scripted_model
from tests.support.running_stack import RunningStack

SETTINGS = {
    "aiAutoResponseEnabled": True,
    "responseDelayMs": 50,
    "toolConfig": {"enabledTools": ["get_price", "calculate_risk_reward"]},
}


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    """A scripted model of the test's own."""
    async with scripted_model() as server:
        yield server


@pytest.fixture
async def stack(tmp_path: Path, model: ScriptedModel) -> AsyncIterator[RunningStack]:
    """A stack of the test's own, with the company `acme`."""
    running = RunningStack(
        tmp_path / "nexus",
        env={
            "NEXUS_LLM_BASE_URL": model.base_url,
            "NEXUS_LLM_API_KEY": "not-a-key",
            "NEXUS_LLM_MODEL": "scripted",
            "NEXUS_SAMPLE_SECONDS_PER_BAR": "0",
        },
    )
    try:
        running.start()
        await running.create_company("acme", **SETTINGS)
        yield running
    finally:
        running.stop()
