"""A recorded turn done again: the same decisions with the same model, to the byte; and nothing ever executed."""

import copy
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import aiohttp
import orjson
import pytest
from pydantic import SecretStr

from agent.adapters.model_router import configured_router
from agent.adapters.price_table import prices
from agent.domain.turn.journal_wire import journal_from_wire
from agent.ports import Models
from agent.record.recorded_turn import RecordedTurn, bytes_of
from agent.record.turn_archive import TurnArchive
from agent.replay.comparison import comparison
from agent.replay.overrides import OverrideError, changed_settings, chosen_model
from agent.replay.recorded_ports import NOT_IN_RECORD, results_of
from agent.replay.rerun import ReplayWorld, replay_turn
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.stage import Stage, agent, stage
from contracts import channels
from contracts.company import CompanySettings
from runtime.bus.direct import DirectReader
from runtime.testing.servers import NatsServer, eventually

PRICE = ScriptedCall(name="get_price", arguments='{ "symbol" : "AAPL" }')
PAGE = ScriptedCall(name="fetch_page", arguments={"url": "https://example.com/"})


@dataclass
class Scene:
    """A stage with an agent, a model, and a way to do its turns again."""

    stage: Stage
    model: ScriptedModel
    session: aiohttp.ClientSession

    async def recorded(self, conversation: str, count: int = 1) -> list[RecordedTurn]:
        """The conversation's records, once there are so many."""
        archive = TurnArchive(self.stage.nats)

        async def enough() -> list[RecordedTurn] | None:
            found = await archive.conversation(COMPANY, conversation)
            return found if len(found) >= count else None

        found = await eventually(enough)
        assert found is not None
        return found

    async def again(self, turn: RecordedTurn, *siblings: RecordedTurn, **settings: Any) -> dict[str, Any]:
        """The turn once more, compared."""
        config = self.stage.config.model_copy(update=settings)
        others = {key: result for sibling in siblings for key, result in results_of(sibling.journal).items()}
        tools = await self.tools()
        world = ReplayWorld(CompanySettings(config=config, version=1), tools, self.models(), others, prices())
        return comparison(turn, await replay_turn(turn, world), prices(), [])

    async def tools(self) -> Any:
        from agent.adapters.catalogue import ExecutorCatalogue
        from agent.ports import Requester
        from runtime.calls.rpc import RpcClient

        requester = Requester(principal="x", role="visitor", plan="free", user=None, language="en")
        return await ExecutorCatalogue(RpcClient(self.stage.nats)).offered(COMPANY, requester)

    def models(self) -> Models:
        settings = ModelSettings(base_url=self.model.base_url, model="scripted", provider_keys={})
        return configured_router(settings, self.session)

    async def last_journal(self, conversation: str) -> bytes:
        """What TURNS holds."""
        stored = await DirectReader(self.stage.nats, "TURNS").last(channels.journal(COMPANY, conversation))
        assert stored is not None
        return bytes_of(journal_from_wire(orjson.loads(stored.event)["data"]))


@pytest.fixture
async def scene(nats_server: NatsServer) -> AsyncIterator[Scene]:
    async with (
        stage(nats_server.url, demo_config(response_delay_ms=30)) as setting,
        scripted_model() as model,
        aiohttp.ClientSession() as session,
        agent(nats_server.url, model.base_url),
    ):
        setting.executor.offer("get_price", {"symbol": "AAPL", "price": 662.74, "name": "Ápple"})
        setting.executor.offer("fetch_page", {"url": "https://example.com/", "title": "T", "text": "x" * 90_000})
        yield Scene(setting, model, session)


def told(request: dict[str, Any]) -> list[dict[str, Any]]:
    """What the model was told. A turn that went on from its stored journal tells arguments without their spaces."""
    messages: list[dict[str, Any]] = copy.deepcopy(request["messages"])
    for message in messages:
        for call in message.get("tool_calls") or ():
            call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return messages


async def test_with_an_unchanged_model_the_journal_is_the_same_byte_for_byte(scene: Scene) -> None:
    replies = [
        ScriptedReply(text="Let me look.", tool_calls=[PRICE, PRICE, PAGE], prompt_tokens=40),
        ScriptedReply(tool_calls=[PRICE], prompt_tokens=60),
        ScriptedReply(text="AAPL is at 662.74.", prompt_tokens=80),
    ]
    scene.model.say(Rule(match="AAPL", replies=replies, again=True))
    await scene.stage.visitor("c1", "What is AAPL at?")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    effects, asked = len(scene.stage.executor.effects), [told(request) for request in scene.model.asked]
    assert turn.journal_bytes == await scene.last_journal("c1")
    scene.model.asked.clear()

    once_more = await scene.again(turn)
    assert once_more["identical"]
    assert (once_more["sameText"], once_more["sameTools"], once_more["notInRecord"]) == (True, True, [])
    assert [told(request) for request in scene.model.asked] == asked
    assert len(scene.stage.executor.effects) == effects
    assert once_more["replayed"]["promptTokens"] == once_more["recorded"]["promptTokens"] == 180


async def test_a_turn_that_was_cancelled_and_taken_up_again_is_the_same_too(scene: Scene) -> None:
    slow = ScriptedReply(tokens=400, token_ms=20)
    scene.model.say(
        Rule(match="first", replies=[slow]),
        Rule(match="second", replies=[ScriptedReply(tool_calls=[PRICE]), ScriptedReply(text="Both.")], again=True),
    )
    await scene.stage.visitor("c1", "first")
    await scene.stage.heard("c1", "message.delta").wait()
    await scene.stage.visitor("c1", "second")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    assert turn.journal.cancels == 1
    assert (await scene.again(turn))["identical"]


async def test_every_turn_of_a_conversation_is_replayed_with_what_was_said_before_it(scene: Scene) -> None:
    for text in ("one", "two", "three"):
        scene.model.say(Rule(match=text, replies=[ScriptedReply(text=f"Answer {text}.")], again=True))
        await scene.stage.visitor("c1", text)
        await scene.stage.answered("c1", len(scene.stage.told("run.finished")) + 1)
        await scene.stage.idle()
    turns = await scene.recorded("c1", 3)
    scene.model.say(
        *(Rule(match=t, replies=[ScriptedReply(text=f"Answer {t}.")], again=True) for t in ("one", "two", "three"))
    )
    compared_turns = [await scene.again(turn) for turn in turns]
    assert [turn["identical"] for turn in compared_turns] == [True, True, True]
    assert [turn["question"] for turn in compared_turns] == ["one", "two", "three"]


async def test_another_prompt_changes_what_the_model_is_told_and_nothing_else(scene: Scene) -> None:
    scene.model.say(Rule(match="hello", replies=[ScriptedReply(text="Hi."), ScriptedReply(text="Woof.")]))
    await scene.stage.visitor("c1", "hello")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    other = await scene.again(turn, custom_system_prompt="You are a dog.")
    assert (other["identical"], other["sameText"]) == (False, False)
    assert (other["recorded"]["text"], other["replayed"]["text"]) == ("Hi.", "Woof.")
    first, second = (request["messages"] for request in scene.model.asked)
    assert second[0]["content"].startswith("You are a dog.")
    assert first[1:] == second[1:]


async def test_a_call_that_the_record_does_not_hold_is_never_made(scene: Scene) -> None:
    order = ScriptedCall(name="place_order", arguments={"symbol": "AAPL", "quantity": 100})
    msft = ScriptedCall(name="get_price", arguments={"symbol": "MSFT"})
    scene.model.say(Rule(match="AAPL", replies=[ScriptedReply(tool_calls=[PRICE]), ScriptedReply(text="662.74")]))
    await scene.stage.visitor("c1", "AAPL?")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    effects = len(scene.stage.executor.effects)
    scene.model.say(
        Rule(match="AAPL", replies=[ScriptedReply(tool_calls=[order, msft, PRICE]), ScriptedReply(text="Bought.")])
    )
    other = await scene.again(turn)
    uses = {use["tool"] + str(use["arguments"].get("symbol")): use for use in other["replayed"]["tools"]}
    assert len(other["notInRecord"]) == 2
    assert uses["place_orderAAPL"]["error"] == uses["get_priceMSFT"]["error"] == NOT_IN_RECORD
    assert uses["get_priceAAPL"]["success"]
    assert len(scene.stage.executor.effects) == effects


async def test_a_result_of_another_turn_of_the_conversation_is_used_and_told_apart(scene: Scene) -> None:
    scene.model.say(Rule(match="AAPL", replies=[ScriptedReply(tool_calls=[PRICE]), ScriptedReply(text="662.74")]))
    await scene.stage.visitor("c1", "AAPL?")
    await scene.stage.answered("c1")
    scene.model.say(Rule(match="thanks", replies=[ScriptedReply(text="Welcome.")]))
    await scene.stage.visitor("c1", "thanks")
    await scene.stage.answered("c1", 2)
    first, second = await scene.recorded("c1", 2)
    scene.model.say(
        Rule(match="thanks", replies=[ScriptedReply(tool_calls=[PRICE]), ScriptedReply(text="Still 662.74.")])
    )
    other = await scene.again(second, first)
    assert (other["notInRecord"], len(other["fromOtherTurns"])) == ([], 1)


async def test_a_conversation_is_found_without_its_company_and_among_its_day(scene: Scene) -> None:
    await scene.stage.visitor("c1", "hello")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    archive = TurnArchive(scene.stage.nats)
    assert [found.journal for found in await archive.conversation(None, "c1")] == [turn.journal]
    day = datetime.fromtimestamp(turn.started_at, UTC).date()
    assert [found.key.conversation for found in await archive.day(None, day)] == ["c1"]
    assert await archive.day(COMPANY, day - timedelta(days=1)) == []
    assert await archive.day("other", day) == []


async def test_one_turn_is_found_by_whom_it_was_for_and_when_it_was_answered(scene: Scene) -> None:
    for text in ("one", "two"):
        await scene.stage.visitor("c1", text, principal="visitor/free/visitor-9")
        await scene.stage.answered("c1", len(scene.stage.told("run.finished")) + 1)
        await scene.stage.idle()
    first, second = await scene.recorded("c1", 2)
    archive, answered = TurnArchive(scene.stage.nats), datetime.fromtimestamp(second.finished_at, UTC)

    async def found(user: str | None, turn: str, at: datetime = answered) -> RecordedTurn | None:
        return await archive.turn(COMPANY, user, turn, at)

    assert await found("visitor-9", first.journal.turn_id) == first
    assert await found("visitor-9", second.journal.turn_id) == second
    assert await found("visitor-8", second.journal.turn_id) is None
    assert await found(None, second.journal.turn_id) is None
    assert await found("visitor-9", "unknown") is None
    assert await found("visitor-9", second.journal.turn_id, answered + timedelta(hours=1)) is None


async def test_a_record_holds_no_principal(scene: Scene) -> None:
    await scene.stage.visitor("c1", "hello", principal="visitor/free/visitor-9")
    await scene.stage.answered("c1")
    (turn,) = await scene.recorded("c1")
    assert turn.user == "visitor-9"
    facts = (await DirectReader(scene.stage.nats, "FACTS").batch("turns.recorded.v1.>", 1, 10)).facts
    assert facts[0].subject == "turns.recorded.v1.demo.visitor-9"
    assert b"visitor/free" not in facts[0].event


def test_settings_are_changed_by_a_merge_patch_and_stay_settings() -> None:
    settings = CompanySettings(config=demo_config(), version=3)
    patched = changed_settings(
        settings, prompt="Be kind.", patch={"temperature": 0.1, "toolConfig": {"maxIterations": 1}}
    )
    assert (patched.config.temperature, patched.config.tool_config.max_iterations) == (0.1, 1)
    assert (patched.config.custom_system_prompt, patched.version) == ("Be kind.", 3)
    with pytest.raises(OverrideError, match="temperature"):
        changed_settings(settings, prompt=None, patch={"temperature": 9})


@pytest.mark.parametrize(
    ("name", "provider", "model"),
    [
        ("offline", "offline", "offline-rules"),
        ("gpt-4.1", "openai", "gpt-4.1"),
        ("openai:ft:mine", "openai", "ft:mine"),
        ("somebody/new-model", "openai", "somebody/new-model"),
    ],
)
def test_a_model_is_looked_for_where_it_is_served(name: str, provider: str, model: str) -> None:
    settings = ModelSettings(provider_keys={"openai": SecretStr("k")}, base_url=None)
    found = chosen_model(name, settings)
    assert (found.provider, found.model) == (provider, model)


def test_a_model_that_nobody_serves_is_refused_with_what_to_do() -> None:
    settings = ModelSettings(provider_keys={}, base_url=None)
    with pytest.raises(OverrideError, match="GROQ_API_KEY"):
        chosen_model("llama-3.1-8b-instant", settings)
    with pytest.raises(OverrideError, match="NEXUS_LLM_BASE_URL"):
        chosen_model("new-model", settings)
    assert json.dumps(settings.order) == '["groq", "openai", "anthropic"]'
