"""kill -9 of the gateway behind MCP's own client: a call made again with its key is the same call, done once."""

import asyncio
import uuid
from typing import Any

import httpx2
import mcp_types as types
import pytest
from mcp.shared.exceptions import MCPError

from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from gateway.testing.doors import kill_moments
from runtime.testing.servers import eventually
from tests.faults.pulled_plug import Plug
from tests.support.mcp_client import Mode, Person, Tasks, connected
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="session")
ORDER = {"symbol": "IBM", "side": "buy", "quantity": 2, "order_type": "limit", "limit_price": 1}
ROUTING = '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
SUMMARY = "IBM rose over the year, and MSFT fell."
DEADLINE = 60.0
_BROKEN = (MCPError, httpx2.HTTPError, BaseExceptionGroup, OSError)


async def called(stack: RunningStack, token: str, name: str, arguments: dict[str, Any], **client: Any) -> Any:
    """What a call with a key comes to, made again until it is told."""
    meta: Any = {"nexus/idempotencyKey": "once"}

    async def told() -> types.CallToolResult | None:
        try:
            async with connected(stack.url, token, **client) as session:
                return await session.call_tool(name, arguments, meta=meta)
        except _BROKEN:
            return None

    result = await eventually(told, DEADLINE)
    assert result is not None
    return result.structured_content


class Killing(Person):
    """Pulls the plug when they are asked for the first time, and then says yes."""

    def __init__(self, plug: Plug) -> None:
        super().__init__(quantity=3)
        self._plug = plug

    async def elicit(self, context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
        self._plug.pull()
        return await super().elicit(context, params)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_an_order_is_placed_once(stack: RunningStack, mode: Mode) -> None:
    token, plug = stack.mint("user", f"u-{uuid.uuid4().hex}", "demo", plan="pro"), Plug(stack)
    told = await called(stack, token, "create_paper_order", ORDER, person=Killing(plug), mode=mode)
    assert (told["status"], told["order"]["quantity"]) == ("confirmed", 3)
    await plug.mended()
    async with connected(stack.url, token) as client:
        held = (await client.call_tool("get_pending_orders", {})).structured_content["orders"]
    assert [(one["quantity"], one["status"]) for one in held] == [(3, "open")]


@pytest.mark.parametrize("milliseconds", kill_moments(700, 2500))
@pytest.mark.parametrize("tasks", [True, False], ids=["task", "waits"])
async def test_an_analysis_is_made_once(
    stack: RunningStack, model: ScriptedModel, milliseconds: int, *, tasks: bool
) -> None:
    model.say(
        Rule(match="budget_per_ticker", replies=[ScriptedReply(text=ROUTING)], again=True),
        Rule(match="findings", replies=[ScriptedReply(text=SUMMARY, first_token_ms=1500)], again=True),
    )
    token, plug = stack.mint("user", f"u-{uuid.uuid4().hex}", "acme"), Plug(stack)
    asked = {"query": "Compare IBM and MSFT over the last year", "use_llm": True}
    extensions = [Tasks()] if tasks else []
    asking = asyncio.create_task(called(stack, token, "market_analysis", asked, extensions=extensions))
    asyncio.get_running_loop().call_later(milliseconds / 1000, plug.pull)
    assert (await asking)["summary"].startswith(SUMMARY)
    plug.pull()  # where it was over before
    await plug.mended()
    assert len(model.asked) == 2, "a step was paid twice"
