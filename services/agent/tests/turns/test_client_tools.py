"""Tools that the client runs: its calls are handed out, and the turn goes on with what comes of them."""

import asyncio
import json
from typing import Any

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.dying import Death
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import Stage, agent, stage
from contracts.events.chat import ClientTool, Wishes
from runtime.bus.connection import connect
from runtime.client_results import ClientResults
from runtime.settings import NatsSettings
from runtime.testing.servers import NatsServer, eventually

WHERE = ClientTool(name="get_location", description="Where the user is.", parameters={"properties": {}})
WISHES = Wishes(tools=[WHERE, ClientTool(name="order"), ClientTool(name="hand_off")])
ASKS = ScriptedReply(text="One moment.", tool_calls=[ScriptedCall(name="get_location", arguments={"exact": True})])
MADRID: dict[str, Any] = {"success": True, "data": {"city": "Madrid"}}


def results(scene: Stage) -> ClientResults:
    return ClientResults(scene.nats, "/nexus/gateway")


async def handed(scene: Stage, count: int = 1) -> list[dict[str, Any]]:
    """The calls that the client was handed, once there are so many."""

    def found() -> list[dict[str, Any]]:
        return [one for one in scene.told("tool.started") if "arguments" in one]

    await eventually(lambda: len(found()) >= count)
    return found()


def said_of_calls(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """What a prompt holds of the results of calls."""
    return [json.loads(one["content"]) for one in asked["messages"] if one["role"] == "tool"]


async def test_a_call_is_handed_out_after_ours_and_the_turn_goes_on_with_its_first_result(
    nats_server: NatsServer,
) -> None:
    both = ScriptedReply(
        tool_calls=[*ASKS.tool_calls, ScriptedCall(name="order", arguments={"quantity": 1}), *ASKS.tool_calls]
    )
    async with (
        stage(nats_server.url) as scene,
        scripted_model(Rule(replies=[both, ScriptedReply(text="You are in Madrid.")])) as model,
        agent(nats_server.url, model.base_url) as running,
    ):
        scene.executor.offer("order", {"state": "placed"})
        await scene.visitor("c1", "where am I?", wishes=WISHES)
        first, second = await handed(scene, 2)
        assert [one["left"] for one in (first, second)] == [1, 0]
        assert (first["tool"], first["arguments"]) == ("get_location", {"exact": True})
        # A tool of ours with the client's name is ours, and it was done before anything was handed out.
        assert len(scene.executor.effects) == 1
        assert [one["tool"] for one in scene.told("tool.finished")] == ["order"]
        state = running.engine.running(next(iter(running.engine._drivers)))  # pyright: ignore[reportPrivateUsage]
        assert state is not None
        assert [one.call_id for one in state.waiting or ()] == [first["callId"], second["callId"]]
        for given in (MADRID, {"success": True, "data": {"city": "Paris"}}):
            await results(scene).store(COMPANY, "c1", first["callId"], given)
        refused = {"success": False, "error": {"code": "EXECUTION_ERROR", "message": "no permission"}}
        await results(scene).store(COMPANY, "c1", second["callId"], refused)
        (answer,) = await scene.answered("c1")
        await scene.idle()
    assert answer["text"] == "You are in Madrid."
    names = [tool["function"]["name"] for tool in model.asked[0]["tools"]]
    assert (names.count("get_location"), names.count("order"), names.count("hand_off")) == (1, 1, 1)
    told = said_of_calls(model.asked[1])
    assert "Madrid" in json.dumps(told[0])
    assert "no permission" in json.dumps(told[2])
    assert "Paris" not in json.dumps(told)


async def test_who_writes_on_instead_is_answered_and_a_late_result_changes_nothing(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, Rule(replies=[ASKS, ScriptedReply(text="Then without.")])) as (
        scene,
        model,
    ):
        await scene.visitor("c1", "where am I?", wishes=WISHES)
        (call,) = await handed(scene)
        await scene.visitor("c1", "never mind", wishes=WISHES)
        (answer,) = await scene.answered("c1")
        await results(scene).store(COMPANY, "c1", call["callId"], MADRID)
        await scene.idle()
        assert len(await scene.answers("c1")) == 1
    assert answer["text"] == "Then without."
    assert "no result" in json.dumps(said_of_calls(model.asked[1]))


async def test_an_agent_killed_while_its_client_works_is_taken_over_with_the_result_once(
    nats_server: NatsServer,
) -> None:
    # look, save, save: the call is in the journal; the fourth step waits for the client.
    death = Death(3, after=False)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(Rule(replies=[ASKS, ScriptedReply(text="Madrid it is.")])) as model,
    ):
        async with agent(nats_server.url, model.base_url, wrap=death.around):
            await scene.visitor("c1", "where am I?", wishes=WISHES)
            (call,) = await handed(scene)
            await eventually(death.dead.is_set)
            # Given while nobody waits for it.
            client = await connect(NatsSettings(url=nats_server.url), name="client")
            await ClientResults(client, "/nexus/gateway").store(COMPANY, "c1", call["callId"], MADRID)
            await client.close()
        async with agent(nats_server.url, model.base_url, ack_wait_seconds=0.5):
            (answer,) = await scene.answered("c1")
            await scene.idle()
    assert answer["text"] == "Madrid it is."
    assert len(model.asked) == 2
    assert "Madrid" in json.dumps(said_of_calls(model.asked[1]))
    assert {one["callId"] for one in await handed(scene)} == {call["callId"]}


async def test_who_waits_has_a_result_that_comes_before_during_and_after(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene:
        kept = results(scene)
        assert await kept.wait(COMPANY, "c1", "k1", 0.0) is None
        waiting = [asyncio.create_task(kept.wait(COMPANY, "c1", "k1", 20.0)) for _ in range(2)]
        await kept.store(COMPANY, "c1", "k1", MADRID)
        assert await asyncio.gather(*waiting) == [MADRID, MADRID]
        assert await kept.wait(COMPANY, "c1", "k1", 0.0) == MADRID
        for company, conversation in (("other", "c1"), (COMPANY, "c2")):
            assert await kept.wait(company, conversation, "k1", 0.0) is None
