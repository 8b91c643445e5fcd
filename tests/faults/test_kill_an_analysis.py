"""The agent is killed in the middle of an analysis: another one ends it, once."""

from typing import Any

import aiohttp
import pytest

from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
ROUTING = '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
SUMMARY = "IBM rose over the year, and MSFT fell."
LONG = 100.0


async def test_the_agent_is_killed_while_the_model_writes_the_summary(
    stack: RunningStack, model: ScriptedModel, customer: str
) -> None:
    model.say(
        Rule(match="budget_per_ticker", replies=[ScriptedReply(text=ROUTING)], again=True),
        Rule(match="findings", replies=[ScriptedReply(text=SUMMARY, first_token_ms=2000)], again=True),
    )
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=30)) as session:
        http = Http(stack.url, session)
        body = {"query": "Compare IBM and MSFT over the last year", "useLlm": True}
        status, _, headers = await http("POST", "/v2/analysis", token=customer, json=body)
        assert status == 202
        await eventually(lambda: len(model.asked) == 2, LONG)
        dead = stack.kill("agent")

        async def done() -> Any:
            code, view, _ = await http("GET", headers["location"], token=customer)
            assert code == 200
            return view if view["status"] != "running" else None

        view: Any = await eventually(done, LONG)
    assert view["status"] == "done", view
    assert view["report"]["summary"].startswith(SUMMARY)
    assert [one["calls"] for one in view["report"]["tools_used"]] == [2]
    routed = [seen for seen in model.asked if "budget_per_ticker" in seen["messages"][-1]["content"]]
    assert len(routed) == 1, "a recorded step was paid twice"
    await stack.back("agent", dead)
