"""Slow is not dead: services and servers that stand still for a while, alone and in pairs.

Here a short form; all pauses and all pairs are in paused_matrix.py (`make test-paused`).
"""

import pytest

from agent.scripted_model.server import ScriptedModel
from tests.support.paused import PROCESSES, as_it_should_be, pause_and_ask, system
from tests.support.running_stack import RunningStack

pytestmark = [pytest.mark.asyncio(loop_scope="session"), pytest.mark.timeout(420)]

PAIRS = [("memory", "market-adapter"), ("redis", "mongodb"), ("agent", "tool-executor"), ("nats", "gateway")]
MISSING = {
    "memory": "the user's and the market's data",
    "mongodb": "what is remembered of the user",
    "market-adapter": "the portfolio",
}
"""What a customer's prompt names as not available while this stands still."""


@pytest.mark.parametrize("seconds", [2, 8])
@pytest.mark.parametrize("victim", PROCESSES)
async def test_one_stands_still(stack: RunningStack, model: ScriptedModel, victim: str, seconds: float) -> None:
    pause = await pause_and_ask(stack, model, [victim], seconds)
    as_it_should_be(pause)
    if seconds > 5 and victim in MISSING:
        assert any(MISSING[victim] in system(prompt) for prompt in pause.prompts), "what is missing is not named"
    if seconds > 5 and victim == "market-adapter":
        results = [str(m["content"]) for prompt in pause.prompts for m in prompt["messages"] if m["role"] == "tool"]
        assert any("TIMEOUT" in result or "UNAVAILABLE" in result for result in results), results


@pytest.mark.parametrize("victims", PAIRS, ids="-".join)
async def test_two_stand_still(stack: RunningStack, model: ScriptedModel, victims: tuple[str, str]) -> None:
    pause = await pause_and_ask(stack, model, victims, 3)
    as_it_should_be(pause)
