"""A model sees the tools that the question is about; one that it does not see it may ask for, or simply call."""

import json

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel
from agent.testing.scripted_stage import scripted_stage
from contracts.events.chat import ClientTool, Wishes
from runtime.testing.servers import NatsServer

PLENTY = tuple(
    f"count_{word}"
    for word in (
        "apples",
        "pears",
        "plums",
        "figs",
        "limes",
        "kiwis",
        "dates",
        "nuts",
        "oats",
        "beans",
        "peas",
        "leeks",
    )
)


def seen(model: ScriptedModel, step: int) -> list[str]:
    """The names of the tools that a step's request had."""
    return [tool["function"]["name"] for tool in model.asked[step]["tools"]]


async def test_a_tool_that_is_asked_for_is_there_in_the_next_step(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(
                tool_calls=[ScriptedCall(name="show_tools", arguments={"names": ["count_leeks", "count_gold"]})]
            ),
            ScriptedReply(tool_calls=[ScriptedCall(name="count_leeks", arguments={})]),
            ScriptedReply(text="There are four."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        for name in PLENTY:
            scene.executor.offer(name, {"count": 4})
        await scene.visitor("c1", "how many apples and pears are there?", locale="en")
        assert (await scene.answered("c1"))[0]["text"] == "There are four."
        first, second, third = (seen(model, step) for step in range(3))
        assert {"count_apples", "count_pears", "show_tools", "hand_off"} <= set(first)
        assert "count_leeks" not in first
        assert len(first) == 8
        assert "count_leeks" in second
        assert "count_leeks" in third
        (told,) = [one["content"] for one in model.asked[1]["messages"] if one["role"] == "tool"]
        assert json.loads(told) == {"shown": ["count_leeks"], "unknown": ["count_gold"]}
        assert [request.tool for request in scene.executor.requests] == ["count_leeks"]


async def test_a_tool_that_is_not_shown_can_be_called_all_the_same(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="count_leeks", arguments={})]),
            ScriptedReply(text="Four leeks."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        for name in PLENTY:
            scene.executor.offer(name, {"count": 4})
        await scene.visitor("c1", "how many apples are there?", locale="en")
        assert (await scene.answered("c1"))[0]["text"] == "Four leeks."
        assert "count_leeks" not in seen(model, 0)
        assert "count_leeks" in seen(model, 1)


async def test_a_clients_own_tools_are_always_shown(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(text="Four apples.")])
    wishes = Wishes(tools=[ClientTool(name=f"show_{word}") for word in ("map", "card", "table")])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        for name in PLENTY:
            scene.executor.offer(name, {"count": 4})
        await scene.visitor("c1", "how many apples are there?", locale="en", wishes=wishes)
        await scene.answered("c1")
        assert {"show_map", "show_card", "show_table", "count_apples"} <= set(seen(model, 0))
