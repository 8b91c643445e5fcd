"""Whatever a provider does: the visitor gets one answer or one clear error, and the bill says what was used."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest

from agent.domain.cost import estimated_tokens
from agent.scripted_model.script import ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.company import demo_config
from agent.testing.stage import Stage, agent, stage
from contracts.company import Budget
from runtime.bus.direct import DirectReader
from runtime.testing.servers import NatsServer, eventually

GOOD = ScriptedReply(text="a whole answer", prompt_tokens=100)
SPOKE = "one two"
FAULTS: Mapping[str, tuple[ScriptedReply, int]] = {
    "429": (ScriptedReply(status=429), 0),
    "429 for long": (ScriptedReply(status=429, retry_after=30), 0),
    "500": (ScriptedReply(status=500), 0),
    "401": (ScriptedReply(status=401), 0),
    "silent": (ScriptedReply(hang=True), 0),
    "first token late": (ScriptedReply(text="late", first_token_ms=3000), 0),
    "cut at once": (ScriptedReply(text=SPOKE, cut_after=0), 0),
    "cut": (ScriptedReply(text=f"{SPOKE} three", cut_after=2), 2),
    "garbled": (ScriptedReply(text=SPOKE, garbled=True), 2),
    "tool_use_failed": (ScriptedReply(status=400, error_code="tool_use_failed"), 0),
    "malformed": (ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments="{")]), 0),
}
"""What a provider does, and how often it speaks, which is billed, before it is left."""
SOON = {"time_limits": "groq=0.3"}
"""For a provider that says nothing: one that speaks must be heard, however busy the machine is."""


def providers(more: Mapping[str, Any] = MappingProxyType({}), **servers: ScriptedModel) -> ModelSettings:
    keys = dict.fromkeys(servers, "key-for-tests")
    addresses = {name: server.base_url for name, server in servers.items()}
    fields: dict[str, Any] = {"base_url": None, "provider_keys": keys, "provider_addresses": addresses}
    return ModelSettings.model_validate({**fields, "chain": ",".join(servers), **more})


async def nothing_held(scene: Stage) -> None:
    """Every reservation has been settled, once."""
    await eventually(lambda: len(scene.settled) == len(scene.reserved))
    assert {one.reservation_id for one in scene.settled} == {one.reservation_id for one in scene.reserved}


@pytest.mark.parametrize(("fault", "spoken"), FAULTS.values(), ids=FAULTS.keys())
async def test_one_answer_and_a_bill_for_what_was_said(
    nats_server: NatsServer, fault: ScriptedReply, spoken: int
) -> None:
    config = demo_config(budget=Budget(daily_tokens=100_000), max_response_tokens=50)
    async with (
        stage(nats_server.url, config) as scene,
        scripted_model(default=fault) as bad,
        scripted_model(default=GOOD) as good,
        agent(nats_server.url, models=providers({} if spoken else SOON, groq=bad, openai=good)),
    ):
        await scene.visitor("c1", "hi")
        (answer,) = await scene.answered("c1")
        assert (answer["text"], answer["provider"]) == ("a whole answer", "openai")
        facts = await scene.usage(spoken + 1)
        await nothing_held(scene)
        assert len(await scene.usage(0)) == spoken + 1
        guessed = [fact for fact in facts if fact["provider"] == "groq"]
        assert [fact["estimated"] for fact in guessed] == [True] * spoken
        expected = estimated_tokens(len(SPOKE), 0)
        assert [fact["usage"]["completionTokens"] for fact in guessed] == [expected] * spoken
        (counted,) = [fact for fact in facts if fact["provider"] == "openai"]
        assert counted["usage"] == {"promptTokens": 100, "completionTokens": 3}
        used = {one.reservation_id: one.used for one in scene.settled if one.used}
        assert used == {
            fact["reservation"]["id"]: fact["usage"]["promptTokens"] + fact["usage"]["completionTokens"]
            for fact in facts
        }


@pytest.mark.parametrize("status", [500, 401, 429])
async def test_one_clear_error_and_no_bill_when_nobody_answers(nats_server: NatsServer, status: int) -> None:
    config = demo_config(budget=Budget(daily_tokens=100_000))
    async with (
        stage(nats_server.url, config) as scene,
        scripted_model(default=ScriptedReply(status=status, retry_after=60)) as bad,
        agent(nats_server.url, models=providers(groq=bad, anthropic=bad), turn_deadline_seconds=3.0),
    ):
        await scene.visitor("c1", "hi")
        (notice,) = await scene.answered("c1")
        assert notice["code"] in {"LLM_UNAVAILABLE", "DEADLINE"}
        assert "key-for-tests" not in str(notice)
        await nothing_held(scene)
        facts = (await DirectReader(scene.nats, "FACTS").batch("usage.recorded.v1.>", 1, 10)).facts
        assert list(facts) == []


async def test_a_turn_of_the_built_in_assistant_counts_as_one_that_used_nothing(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        await scene.visitor("c1", "hi")
        await scene.answered("c1")
        (fact,) = await scene.usage(1)
        assert (fact["provider"], fact["usage"]) == ("offline", {"promptTokens": 0, "completionTokens": 0})
        assert (fact["turnId"], fact["door"]) == ((await scene.answers("c1"))[0]["turnId"], "chat")
        assert "cost" not in fact
        assert scene.reserved == []
