"""When a turn is answered, cancelled, forced, ended: on a real bus, with a scripted model over real HTTP."""

import asyncio

import orjson
import pytest

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from contracts.agent_rpc import TURN_STATE, TurnStateRequest
from contracts.channels import ChatKind
from contracts.company import ToolConfig
from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.registry import BY_TYPE
from contracts.events.tool import ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.ids import answer_id, turn_id
from runtime.bus.direct import DirectReader
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.dead_letters import DeadLetters


async def test_a_burst_of_five_messages_gets_one_answer(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(response_delay_ms=1000)
        last = max(await asyncio.gather(*(scene.visitor("c1", f"message {number}") for number in range(5))))
        (answer,) = await scene.answered("c1")
        await scene.idle()
        assert answer["basis"] == last
        assert len(await scene.answers("c1")) == 1
        assert len(model.asked) == 1
        # Neighbours of one side are one message of the prompt.
        assert model.asked[0]["messages"][-1]["content"].count("message") == 5


async def test_someone_who_keeps_typing_is_answered_all_the_same(nats_server: NatsServer) -> None:
    hangs = ScriptedReply(hang=True)
    rule = Rule(replies=[hangs, hangs, ScriptedReply(text="Patience pays.", first_token_ms=1500)])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        for number in range(1, 6):
            await scene.visitor("c1", f"and {number}")
            wanted = min(number, 3)
            await eventually(lambda wanted=wanted: len(model.asked) >= wanted)
        await scene.answered("c1")
        await scene.idle()
        # Two cancellations, then the third turn is finished whatever is written meanwhile.
        reasons = [told["reason"] for told in scene.told("run.cancelled")]
        assert reasons == ["superseded", "superseded"]
        facts = await scene.facts("c1")
        newest = max(seq for kind, seq, _ in facts if kind is ChatKind.VISITOR)
        assert max(data["basis"] for data in await scene.answers("c1")) == newest


async def test_the_kill_switch_stops_a_running_turn(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "hello")
        await eventually(lambda: len(model.asked) == 1)
        await scene.configure(ai_auto_response_enabled=False)
        await scene.idle()
        assert scene.told("run.cancelled")[0]["reason"] == "disabled"
        await eventually(lambda: model.asked[0]["cancelled"])
        assert await scene.answers("c1") == []


async def test_a_visitor_who_presses_stop_gets_no_answer(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        seq = await scene.visitor("c1", "hello")
        await eventually(lambda: len(model.asked) == 1)
        await scene.cancel("c1", turn_id(COMPANY, "c1", seq), seq)
        await scene.idle()
        assert scene.told("run.cancelled")[0]["reason"] == "user"
        assert await scene.answers("c1") == []


async def test_a_company_without_settings_is_not_answered(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        await scene.configure(ai_auto_response_enabled=False)
        await scene.visitor("c1", "hello")
        await scene.idle()
        assert model.asked == []


async def test_a_turn_at_its_deadline_ends_in_a_visible_message(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(hang=True)], again=True)
    async with (
        stage(nats_server.url) as scene,
        scripted_model(rule) as model,
        agent(nats_server.url, model.base_url, turn_deadline_seconds=0.5),
    ):
        seq = await scene.visitor("c1", "hello")
        (notice,) = await scene.answered("c1")
        await scene.idle()
        assert (notice["code"], notice["basis"]) == ("DEADLINE", seq)
        assert "in time" in notice["text"]
        assert scene.told("run.error")[0]["code"] == "DEADLINE"
        failed = await DirectReader(scene.nats, "FACTS").last(f"turn.failed.v1.{COMPANY}.-")
        assert failed is not None
        assert BY_TYPE["turn.failed.v1"].data.model_validate(orjson.loads(failed.event)["data"])
        (letter,) = await DeadLetters(scene.nats).list(service="agent")
        assert letter.origin_seq == seq
        assert letter.reason.startswith("DEADLINE")


async def test_when_no_model_answers_the_visitor_is_told(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(status=503)], again=True)
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "hola", locale="es")
        (notice,) = await scene.answered("c1")
        assert notice["code"] == "LLM_UNAVAILABLE"
        assert "no está disponible" in notice["text"]
        # Three rounds of two attempts.
        assert len(model.asked) == 6


async def test_a_provider_that_will_never_take_the_request_is_asked_once(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(status=401)], again=True)
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "hello")
        (notice,) = await scene.answered("c1")
        assert notice["code"] == "LLM_UNAVAILABLE"
        assert len(model.asked) == 1


async def test_an_answer_that_the_provider_withholds_is_a_polite_sentence(nats_server: NatsServer) -> None:
    begun = '{"choices": [{"delta": {"content": "I "}}]}'
    withheld = '{"choices": [{"delta": {}, "finish_reason": "content_filter"}]}'
    rule = Rule(replies=[ScriptedReply(raw=f"data: {begun}\n\ndata: {withheld}\n\n")], again=True)
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.visitor("c1", "hola, dime algo", locale="es")
        (answer,) = await scene.answered("c1")
        await scene.idle()
        assert answer["text"].startswith("No puedo ayudarte con eso.")
        assert scene.told("run.error") == []
        assert len(model.asked) == 1


async def test_at_max_iterations_the_model_must_answer_with_what_there_is(nats_server: NatsServer) -> None:
    calls = [ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments={"n": n})]) for n in range(2)]
    rule = Rule(replies=[*calls, ScriptedReply(text="That is all there is.")])
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        await scene.configure(tool_config=ToolConfig(max_iterations=2))
        scene.executor.offer("look", {"found": 1})
        await scene.visitor("c1", "look everywhere")
        (answer,) = await scene.answered("c1")
        assert answer["text"] == "That is all there is."
        assert [asked["tool_choice"] for asked in model.asked] == ["auto", "auto", "none"]
        names = [[tool["function"]["name"] for tool in asked["tools"]] for asked in model.asked]
        assert names == [["look", "hand_off"]] * 3
        assert model.asked[-1]["messages"][-1] == {
            "role": "system",
            "content": "Enough has been looked up: answer now with what there is, and ask for no more.",
        }


async def test_a_repeated_call_is_answered_from_the_first_and_told_so(nats_server: NatsServer) -> None:
    same = ScriptedCall(name="look", arguments={"a": 1, "b": 2})
    turned = ScriptedCall(name="look", arguments='{"b": 2, "a": 1}')
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[same, turned]),
            ScriptedReply(tool_calls=[same]),
            ScriptedReply(text="Enough."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        scene.executor.offer("look", {"found": 1})
        await scene.visitor("c1", "look")
        await scene.answered("c1")
        assert len(scene.executor.effects) == 1
        results = [m["content"] for m in model.asked[-1]["messages"] if m["role"] == "tool"]
        assert len(results) == 3
        assert "already made" not in results[0]
        assert all("already made" in result for result in results[1:])


@pytest.mark.parametrize(("unknown_for", "seen"), [(1, [False, False]), (2, [True, False])])
async def test_a_call_with_an_unknown_outcome_is_asked_for_again_by_its_own_id(
    nats_server: NatsServer, unknown_for: int, seen: list[bool]
) -> None:
    """Once more at once, and then when the model makes the same call again."""
    same = ScriptedCall(name="order", arguments={"a": 1})
    rule = Rule(
        replies=[ScriptedReply(tool_calls=[same]), ScriptedReply(tool_calls=[same]), ScriptedReply(text="It is done.")]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        unknown = ToolError(code=ToolCode.TIMEOUT, message="not known yet", reason=OUTCOME_UNKNOWN)
        metadata = ToolMetadata(execution_time=1.0)
        told = [ToolResult(success=False, error=unknown, metadata=metadata)] * unknown_for
        told.append(ToolResult(success=True, data={"made": 1}, metadata=metadata))

        async def order(request: ToolCallRequested) -> ToolResult:
            return told.pop(0)

        scene.executor.tools["order"] = order
        await scene.visitor("c1", "order one")
        await scene.answered("c1")
        assert len({request.call_id for request in scene.executor.requests}) == 1
        results = [m["content"] for m in model.asked[-1]["messages"] if m["role"] == "tool"]
        assert ["outcome_unknown" in result for result in results] == seen
        assert "made" in results[-1]


async def test_a_refusal_that_comes_behind_an_unknown_outcome_does_not_say_that_nothing_was_done(
    nats_server: NatsServer,
) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="order", arguments={"a": 1})]),
            ScriptedReply(text="Who knows."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        unknown = ToolError(code=ToolCode.TIMEOUT, message="not known yet", reason=OUTCOME_UNKNOWN)
        away = ToolError(code=ToolCode.UNAVAILABLE, message="its store is away")

        async def order(request: ToolCallRequested) -> ToolResult:
            error = unknown if len(scene.executor.requests) == 1 else away
            return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=1.0))

        scene.executor.tools["order"] = order
        scene.executor.changing = {"order"}
        await scene.visitor("c1", "order one")
        await scene.answered("c1")
        assert len(scene.executor.requests) > 1
        (result,) = [m["content"] for m in model.asked[-1]["messages"] if m["role"] == "tool"]
        assert "UNKNOWN_OUTCOME" in result


async def test_the_driving_agent_tells_the_text_so_far(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(text="one two three", token_ms=1000)])
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        seq = await scene.visitor("c1", "count")
        await eventually(lambda: scene.told("message.delta"))
        request = TurnStateRequest(company_id=COMPANY, conversation_id="c1")
        state = await RpcClient(scene.nats).ask_all(TURN_STATE, request, deadline=5.0)
        assert state is not None
        turn = turn_id(COMPANY, "c1", seq)
        assert (state.turn_id, state.message_id) == (turn, answer_id(turn))
        assert state.text_so_far.startswith("one")
        assert state.delta_seq >= 0
        await scene.answered("c1")
        await scene.idle()
        assert await RpcClient(scene.nats).ask_all(TURN_STATE, request, deadline=0.1) is None


async def test_everything_the_agent_publishes_keeps_its_contract(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(tool_calls=[ScriptedCall(name="look")]), ScriptedReply(text="Seen.")])
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        scene.executor.offer("look", {"found": 1})
        await scene.visitor("c1", "look")
        (answer,) = await scene.answered("c1")
        await scene.idle()
        BY_TYPE["chat.message.assistant.v1"].data.model_validate(answer)
        assert scene.live
        for subject, data in scene.live:
            BY_TYPE[f"live.turn.{subject.split('.', 4)[4]}"].data.model_validate(data)
        journal = await DirectReader(scene.nats, "TURNS").last(f"turn.{COMPANY}.c1.journal.v1")
        assert journal is not None
        BY_TYPE["turn.journal.v1"].data.model_validate(orjson.loads(journal.event)["data"])


async def test_a_deaf_memory_is_made_up_for_by_the_log(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        scene.memory_fails = True
        await scene.visitor("c1", "can you hear me?")
        await scene.answered("c1")
        assert model.asked[0]["messages"][-1] == {"role": "user", "content": "can you hear me?"}


async def test_a_rule_that_fails_ends_its_turn_where_it_would_fail_again(
    nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("side")

    monkeypatch.setattr("agent.adapters.offline.respond", broken)
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        await scene.visitor("c1", "hello")
        (notice,) = await scene.answered("c1")
        assert notice["code"] == "LLM_UNAVAILABLE"
