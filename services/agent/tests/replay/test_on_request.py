"""A recorded turn done again, and made into a case, for whoever asks on the bus."""

import tomllib
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from agent.record.recorded_turn import RecordedTurn
from agent.record.turn_archive import TurnArchive
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.company import COMPANY, demo_config
from agent.testing.stage import Stage, agent, stage
from contracts.preview_rpc import TurnRequest
from contracts.replay_rpc import CASE, REPLAY, ReplayRequest
from runtime.bus.direct import DirectReader
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer, eventually

PRICE = ScriptedCall(name="get_price", arguments={"symbol": "AAPL"})
VISITOR = "visitor-9"


@pytest.fixture
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as running:
        yield running


@pytest.fixture
async def scene(nats_server: NatsServer, model: ScriptedModel) -> AsyncIterator[Stage]:
    async with (
        stage(nats_server.url, demo_config(response_delay_ms=30)) as setting,
        agent(nats_server.url, model.base_url),
    ):
        setting.executor.offer("get_price", {"symbol": "AAPL", "price": 662.74})
        yield setting


async def recorded(scene: Stage) -> tuple[RecordedTurn, dict[str, Any]]:
    """The one turn of the conversation, and how it is named on the bus."""

    async def found() -> list[RecordedTurn]:
        return await TurnArchive(scene.nats).conversation(COMPANY, "c1")

    turns = await eventually(found)
    assert turns is not None
    (turn,) = turns
    return turn, {
        "company_id": COMPANY,
        "conversation_id": "c1",
        "turn_id": turn.journal.turn_id,
        "user_id": VISITOR,
        "answered_at": datetime.fromtimestamp(turn.finished_at, UTC),
    }


async def test_a_turn_is_done_again_with_another_prompt_and_the_company_pays(
    scene: Stage, model: ScriptedModel
) -> None:
    replies = [
        ScriptedReply(tool_calls=[PRICE]),
        ScriptedReply(text="At 662.74."),
        ScriptedReply(tool_calls=[PRICE]),
        ScriptedReply(text="Woof."),
    ]
    model.say(Rule(match="AAPL", replies=replies))
    await scene.visitor("c1", "What is AAPL at?", principal=f"visitor/free/{VISITOR}")
    await scene.answered("c1")
    _, named = await recorded(scene)
    rpc, effects = RpcClient(scene.nats), len(scene.executor.effects)
    found = (await rpc.call(REPLAY, ReplayRequest(**named, prompt="You are a dog."), deadline=20)).turn
    assert found is not None
    assert (found.recorded.text, found.replayed.text, found.question) == ("At 662.74.", "Woof.", "What is AAPL at?")
    assert [call.in_record for call in found.replayed.tools] == [True]
    assert len(scene.executor.effects) == effects
    assert model.asked[-1]["messages"][0]["content"].startswith("You are a dog.")

    async def paid() -> list[dict[str, Any]] | None:
        facts = (await DirectReader(scene.nats, "FACTS").batch("usage.recorded.v1.>", 1, 20)).facts
        told: list[dict[str, Any]] = [orjson.loads(fact.event)["data"] for fact in facts]
        return [one for one in told if one.get("userId") is None] or None

    told: list[dict[str, Any]] | None = await eventually(paid)
    assert told is not None
    (usage,) = told
    assert usage.get("conversationId") is None

    offline = (await rpc.call(REPLAY, ReplayRequest(**named, model="offline"), deadline=20)).turn
    assert offline is not None
    assert offline.replayed.provider == "offline"
    with pytest.raises(RpcError, match="providers lists them"):
        await rpc.call(REPLAY, ReplayRequest(**named, model="compatible:another"), deadline=20)
    elsewhere = ReplayRequest(**named).model_copy(update={"conversation_id": "c2"})
    assert (await rpc.call(REPLAY, elsewhere, deadline=20)).turn is None


async def test_a_turn_becomes_a_case_that_can_be_read(scene: Stage, model: ScriptedModel) -> None:
    said = 'How much is "AAPL"?\\ \x7f\n¿y IBM?'
    model.say(
        Rule(match="AAPL", replies=[ScriptedReply(tool_calls=[PRICE]), ScriptedReply(text="At 662.74.\nIndeed.")])
    )
    await scene.visitor("c1", said, principal=f"visitor/free/{VISITOR}")
    await scene.answered("c1")
    turn, named = await recorded(scene)
    made = (await RpcClient(scene.nats).call(CASE, TurnRequest(**named), deadline=10)).case
    assert made is not None
    assert made.name == f"c1-{turn.journal.turn_id}".lower()[-60:].strip("-")
    case = tomllib.loads(made.toml)
    assert (case["kind"], case["say"], case["needs_model"]) == ("visitor", [said], True)
    assert case["expect"] == {"tools": ["get_price"], "arguments": [{"symbol": "AAPL"}]}
    assert made.toml.endswith("# At 662.74.\n# Indeed.\n")
