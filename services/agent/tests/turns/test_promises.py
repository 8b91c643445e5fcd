"""A model that promises to remember without calling remember is told so, and asked once more in the same turn."""

from typing import Any

import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.testing.offered import SCHEMAS
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage
from agent.texts import TEXTS
from contracts.errors import ToolCode
from contracts.events.tool import ToolCallRequested, ToolError, ToolMetadata, ToolResult
from runtime.testing.servers import NatsServer

ANA = "user/pro/ana"
PROMISE = ScriptedReply(text="I'll remember that you are vegan.")
CALL = ScriptedReply(tool_calls=[ScriptedCall(name="remember", arguments={"fact": "I am vegan"})])
DONE = ScriptedReply(text="Noted: you are vegan.")
UNCHANGED = TEXTS["step.unchanged"].in_language("en")


async def told(scene: Stage, *, locale: str = "en") -> dict[str, Any]:
    await scene.visitor("c1", "I am vegan by the way, what should I cook", principal=ANA, locale=locale)
    (answer,) = await scene.answered("c1")
    await scene.idle()
    return answer


async def test_a_promise_without_a_call_is_told_to_the_model_which_keeps_it(nats_server: NatsServer) -> None:
    script = Rule(match="vegan", replies=[PROMISE, CALL, DONE])
    async with scripted_stage(nats_server.url, script) as (scene, model):
        scene.executor.offer("remember", {"facts": [{"id": "f1", "fact": "I am vegan"}]})
        answer = await told(scene)
        assert answer["text"] == "Noted: you are vegan."
        assert [effect for _, effect in scene.executor.effects] == ['{"fact": "I am vegan"}']
        first, second, third = model.asked
        assert second["messages"][: len(first["messages"])] == first["messages"]
        assert second["messages"][-2]["content"] == PROMISE.text
        assert "no call of remember" in second["messages"][-1]["content"]
        assert all("no call of remember" not in str(message["content"]) for message in third["messages"])
        # What was shown of the empty promise does not count: whoever heard it is told that the run starts again.
        assert len(scene.told("run.started")) == 2
        assert "".join(one["delta"] for one in scene.told("message.delta")).endswith("Noted: you are vegan.")


@pytest.mark.parametrize("tools", [("get_price",), ("remember",)])
async def test_a_model_is_told_once_and_only_where_it_could_have_remembered(
    nats_server: NatsServer, tools: tuple[str, ...]
) -> None:
    script = Rule(match="vegan", replies=[PROMISE], again=True)
    async with scripted_stage(nats_server.url, script) as (scene, model):
        for name in tools:
            scene.executor.offer(name, {})
        answer = await told(scene)
        # Who says it a second time is not believed: the user reads that it is not so.
        assert answer["text"] == (UNCHANGED if "remember" in tools else PROMISE.text)
        assert len(model.asked) == (2 if "remember" in tools else 1)


async def test_a_promise_is_caught_where_remember_was_not_among_the_tools_shown(nats_server: NatsServer) -> None:
    script = Rule(match="price", replies=[PROMISE, CALL, DONE])
    async with scripted_stage(nats_server.url, script) as (scene, model):
        for name in SCHEMAS:
            scene.executor.offer(name, {"facts": []})
        await scene.visitor("c1", "what is the price of AAPL and its news today", principal=ANA, locale="en")
        (answer,) = await scene.answered("c1")
        await scene.idle()
        first, second, _ = [{tool["function"]["name"] for tool in asked["tools"]} for asked in model.asked]
        assert "remember" not in first
        assert second == first | {"remember", "update_memory", "forget"}
        assert answer["text"] == DONE.text
        assert [effect for _, effect in scene.executor.effects] == ['{"fact": "I am vegan"}']


async def test_where_the_model_fails_when_it_is_told_its_promise_is_not_shown(nats_server: NatsServer) -> None:
    script = Rule(match="vegan", replies=[PROMISE, ScriptedReply(status=400)], again=True)
    async with scripted_stage(nats_server.url, script) as (scene, model):
        scene.executor.offer("remember", {})
        answer = await told(scene)
        assert answer["text"] == UNCHANGED
        assert len(model.asked) >= 2


@pytest.mark.parametrize(
    ("tool", "arguments", "claimed", "left"),
    [
        ("forget", {"what": "I am vegan"}, "Done. Anything else?", "Anything else?"),
        ("forget", {"what": "I am vegan"}, "I have forgotten that you are vegan.", ""),
        ("update_memory", {"id": "f1", "fact": "I am vegan"}, "IBM rose. I've updated your diet.", "IBM rose."),
        ("remember", {"fact": "I am vegan"}, "I'll remember that.", ""),
    ],
)
async def test_what_failed_is_not_shown_as_done(
    nats_server: NatsServer, tool: str, arguments: dict[str, str], claimed: str, left: str
) -> None:
    calls = ScriptedReply(tool_calls=[ScriptedCall(name=tool, arguments=arguments)])
    script = Rule(match="vegan", replies=[calls, ScriptedReply(text=claimed), ScriptedReply(text=claimed)])

    async def refuse(request: ToolCallRequested) -> ToolResult:
        error = ToolError(code=ToolCode.UNAVAILABLE, message="memory does not answer")
        return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=1.0))

    async with scripted_stage(nats_server.url, script) as (scene, model):
        scene.executor.tools[tool] = refuse
        await scene.visitor("c1", "forget that I am vegan. Then tell me of IBM", principal=ANA, locale="en")
        (answer,) = await scene.answered("c1")
        await scene.idle()
        assert answer["text"] == f"{left}\n\n{UNCHANGED}".strip()
        assert len(model.asked) == 3
        shown = "".join(one["delta"] for one in scene.told("message.delta"))
        assert shown.endswith(answer["text"])
