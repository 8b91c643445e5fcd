"""Completions over the bus: the copilot's loop for callers who keep their conversation themselves."""

from typing import Any

import pytest
from pydantic import SecretStr

from agent.adapters.circuit_breaker import MAX_FAILURES
from agent.ports import ConversationKey, Requester
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.settings import ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.completions import WEATHER, asking, complete, refused
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from agent.texts import TEXTS
from agent.turns.after_turn import SmallModel
from contracts.completion_rpc import (
    COMPLETE,
    MODELS,
    CompletionCall,
    CompletionMessage,
    CompletionPicture,
    ModelsRequest,
)
from contracts.context_rpc import ContextMemory, FullContext
from contracts.preview_rpc import TRY, TryRequest
from runtime.calls.rpc import RpcClient
from runtime.calls.streamed_calls import StreamClient
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer, eventually

ORDER: dict[str, Any] = {
    "action_id": "act-1",
    "status": "pending_confirmation",
    "content_hash": "h",
    "summary": "Buy 10 IBM at market (paper)",
    "order": {
        "symbol": "IBM",
        "side": "buy",
        "quantity": 10,
        "order_type": "market",
        "limit_price": None,
        "stop_price": None,
    },
    "estimate": {"price": 100, "amount": 1000, "cash_after": 99_000, "currency": "USD"},
    "expires_at": "2030-01-01T00:00:00Z",
}


async def test_the_answer_streams_with_its_usage_and_nothing_becomes_a_conversation(nats_server: NatsServer) -> None:
    rule = Rule(replies=[ScriptedReply(text="One two three.", token_ms=200, prompt_tokens=40)])
    async with scripted_stage(
        nats_server.url, rule, config=demo_config(custom_system_prompt="You are Kim.", temperature=0.2)
    ) as (scene, model):
        brought = [
            CompletionMessage(role="system", content="Rhyme."),
            CompletionMessage(role="user", content="hi"),
            CompletionMessage(role="assistant", content="hello"),
            CompletionMessage(role="user", content="count"),
        ]
        drawn = {"top_p": 0.5, "frequency_penalty": 0.1, "presence_penalty": -0.1, "seed": 7}
        request = asking(
            messages=brought, max_tokens=7, temperature=1.5, stop=["END"], sampling=drawn, door="responses"
        )
        got = await complete(scene.nats, request)
        assert (got.text, len(got.texts)) == ("One two three.", 3)
        assert got.end is not None
        assert (got.end.finish_reason, got.end.model) == ("stop", "scripted")
        assert (got.end.usage.prompt_tokens, got.end.usage.completion_tokens) == (40, 3)
        (asked,) = model.asked
        assert asked["messages"][0]["content"].startswith("You are Kim.")
        assert [(m["role"], m["content"]) for m in asked["messages"][1:]] == [(m.role, m.content) for m in brought]
        assert (asked["max_tokens"], asked["temperature"], asked["stop"]) == (7, 1.5, ["END"])
        assert {name: asked[name] for name in drawn} == drawn
        (usage,) = await scene.usage(1)
        assert (usage["userId"], usage["turnId"], usage["door"]) == ("ana", request.request_id, "responses")
        assert "conversationId" not in usage
        assert (await scene.log.bounds()).last_seq == 0
        assert scene.live == []


async def test_the_platforms_tools_run_behind_it(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(
                text="Let me look.", tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": "IBM"})]
            ),
            ScriptedReply(text="IBM is at 100."),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, model):
        scene.executor.offer("get_price", {"symbol": "IBM", "price": 100})
        request = asking()
        got = await complete(scene.nats, request)
        assert got.text == "Let me look.\n\nIBM is at 100."
        (call,) = scene.executor.requests
        assert (call.call_id, call.principal) == (f"{request.request_id}-0-0", "user/pro/ana")
        assert (call.conversation_id, call.turn_id) == (None, request.request_id)
        assert '"price":100' in model.asked[1]["messages"][-1]["content"]


async def test_a_tool_of_the_callers_own_comes_back_to_them(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            # Both at once: ours runs first, theirs is asked for again.
            ScriptedReply(tool_calls=[ScriptedCall(name="get_weather"), ScriptedCall(name="get_price")]),
            ScriptedReply(tool_calls=[ScriptedCall(name="get_weather", arguments={"city": "Lima"})]),
        ]
    )
    async with scripted_stage(nats_server.url, rule, default=ScriptedReply(text="Sunny.")) as (scene, model):
        scene.executor.offer("get_price", {"price": 1})
        got = await complete(scene.nats, asking(tools=[WEATHER], parallel_calls=False))
        assert model.asked[0]["parallel_tool_calls"] is False
        assert got.end is not None
        assert got.end.finish_reason == "tool_calls"
        (call,) = got.end.calls
        assert (call.name, call.arguments) == ("get_weather", '{"city":"Lima"}')
        assert [tool["function"]["name"] for tool in model.asked[0]["tools"]] == ["get_price", "get_weather"]
        assert [request.tool for request in scene.executor.requests] == ["get_price"]
        followed = [
            CompletionMessage(role="user", content="weather?"),
            CompletionMessage(role="assistant", calls=[CompletionCall(id="c1", name="get_weather", arguments="{}")]),
            CompletionMessage(role="tool", call_id="c1", content="26 degrees"),
        ]
        again = await complete(scene.nats, asking(messages=followed, tools=[WEATHER]))
        assert again.text == "Sunny."
        assert model.asked[-1]["messages"][-1] == {"role": "tool", "tool_call_id": "c1", "content": "26 degrees"}


@pytest.mark.parametrize(
    ("choice", "tools", "sent"),
    [
        ({"tool_choice": "none"}, None, None),
        ({"tool_choice": "required"}, ["get_weather"], "required"),
        (
            {"tool_choice": "required", "tool_name": "get_weather"},
            ["get_weather"],
            {"type": "function", "function": {"name": "get_weather"}},
        ),
    ],
)
async def test_the_callers_tool_choice_is_theirs_to_make(
    nats_server: NatsServer, choice: dict[str, Any], tools: list[str] | None, sent: Any
) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        scene.executor.offer("get_price", {"price": 1})
        await complete(scene.nats, asking(tools=[WEATHER], **choice))
        (asked,) = model.asked
        named = [tool["function"]["name"] for tool in asked["tools"]] if "tools" in asked else None
        assert (named, asked.get("tool_choice")) == (tools, sent)


async def test_a_model_that_never_stops_calling_is_made_to_answer(nats_server: NatsServer) -> None:
    calls = [ScriptedReply(tool_calls=[ScriptedCall(name="get_price", arguments={"symbol": str(n)})]) for n in range(9)]
    async with scripted_stage(
        nats_server.url, Rule(replies=calls), config=demo_config(tool_config={"maxIterations": 2})
    ) as (scene, model):
        scene.executor.offer("get_price", {"price": 1})
        got = await complete(scene.nats, asking(tools=[WEATHER]))
        assert got.end is not None
        assert (got.end.finish_reason, len(model.asked)) == ("stop", 3)
        assert [tool["function"]["name"] for tool in model.asked[2]["tools"]] == ["get_weather"]
        assert len(scene.executor.requests) == 2


async def test_an_order_waits_and_the_answer_says_so_whatever_the_model_says(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order")]),
            ScriptedReply(text="Done, bought!"),
        ]
    )
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        scene.executor.offer("create_paper_order", ORDER)
        got = await complete(scene.nats, asking())
        assert got.end is not None
        assert [action.id for action in got.end.actions] == ["act-1"]
        assert "Waiting for your confirmation: Buy 10 IBM at market (paper)." in got.text


async def test_what_a_program_reads_is_the_last_replys_text_and_nothing_of_ours(nats_server: NatsServer) -> None:
    ordering = ScriptedReply(text="Let me see.", tool_calls=[ScriptedCall(name="create_paper_order")])
    async with scripted_stage(nats_server.url, Rule(replies=[ordering, ScriptedReply(text='{"n": 1}')])) as (scene, _):
        scene.executor.offer("create_paper_order", ORDER)
        got = await complete(scene.nats, asking(structured=True, stream=False))
        assert got.end is not None
        assert (got.text, [action.id for action in got.end.actions]) == ('{"n": 1}', ["act-1"])


async def test_a_caller_that_leaves_ends_the_model_call(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(tokens=500, token_ms=20)) as (scene, model):
        async with StreamClient(scene.nats).open(COMPLETE, asking()) as parts:
            await anext(parts)
        await eventually(lambda: bool(model.asked[0]["cancelled"]))


async def test_the_models_are_those_of_the_companys_provider(nats_server: NatsServer) -> None:
    keys = ModelSettings.model_validate({"base_url": None, "provider_keys": {"groq": "g", "openai": "o"}})
    async with (
        stage(nats_server.url, demo_config(preferred_model="own-tune")) as scene,
        agent(nats_server.url, models=keys),
    ):
        listed = (await RpcClient(scene.nats).call(MODELS, ModelsRequest(company_id=COMPANY))).models
        names = [(model.id, model.provider) for model in listed]
        assert names[:3] == [("nexus", "nexus"), ("own-tune", "groq"), ("llama-3.3-70b-versatile", "groq")]
        assert {provider for _, provider in names[1:]} == {"groq"}
        with pytest.raises(RpcError) as caught:
            await RpcClient(scene.nats).call(MODELS, ModelsRequest(company_id="nobody"))
        assert caught.value.code == "NOT_FOUND"


async def test_without_a_model_rules_answer_and_a_stop_word_ends_them(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        got = await complete(scene.nats, asking("hello", stop=["assistant"]))
        assert got.text == "Hello! How can I help?\n\nI am an automatic "
        assert got.end is not None
        assert got.end.model == "offline-rules"
        forced = await refused(scene.nats, asking(tools=[WEATHER], tool_choice="required"))
        assert (forced.code, forced.reason) == ("BAD_FIELD", "tool_choice")
        assert "writes no JSON" in (await refused(scene.nats, asking(structured=True, stream=False))).message


async def test_pictures_of_a_caller_go_to_models_that_see_alone(nats_server: NatsServer) -> None:
    picture = CompletionPicture(name="picture 1", type="image/png", content="AAAA")
    brought = [
        CompletionMessage(role="user", content="look", pictures=[picture]),
        CompletionMessage(role="assistant", content="a cat"),
        CompletionMessage(role="user", content="sure?"),
    ]
    async with (
        stage(nats_server.url) as scene,
        scripted_model() as blind,
        scripted_model(default=ScriptedReply(text="Yes.", prompt_tokens=900)) as seeing,
    ):
        fields = {
            "base_url": None,
            "provider_keys": {"groq": "g", "openai": "o"},
            "provider_addresses": {"groq": blind.base_url, "openai": seeing.base_url},
        }
        async with agent(nats_server.url, models=ModelSettings.model_validate(fields)):
            got = await complete(scene.nats, asking(messages=brought))
            assert (got.text, got.end and got.end.usage.prompt_tokens) == ("Yes.", 900)
            image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
            assert [one["content"] for one in seeing.asked[0]["messages"][1:]] == [
                [{"type": "text", "text": "look"}, {"type": "text", "text": "picture 1:"}, image],
                "a cat",
                "sure?",
            ]
            error = await refused(scene.nats, asking(messages=brought, model="llama-3.3-70b-versatile"))
            assert (error.code, error.reason) == ("BAD_FIELD", "no_pictures")
            assert "'llama-3.3-70b-versatile' takes no pictures: use meta-llama/llama-4-scout" in error.message
            assert blind.asked == []
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        error = await refused(scene.nats, asking(messages=brought))
        assert (error.reason, "'offline-rules' takes no pictures: leave them out" in error.message) == (
            "no_pictures",
            True,
        )


async def test_a_promise_without_a_call_is_denied_behind_it(nats_server: NatsServer) -> None:
    script = Rule(match="vegan", replies=[ScriptedReply(text="I'll remember that you are vegan.")])
    async with scripted_stage(nats_server.url, script) as (scene, _model):
        scene.executor.offer("remember", {"facts": []})
        got = await complete(scene.nats, asking("I am vegan"))
    assert got.text == f"I'll remember that you are vegan.\n\n{TEXTS['step.unchanged'].in_language('en')}"


async def test_a_call_of_memory_takes_along_what_the_user_wrote_and_no_other_call_does(nats_server: NatsServer) -> None:
    rule = Rule(
        replies=[
            ScriptedReply(
                tool_calls=[
                    ScriptedCall(name="remember", arguments={"fact": "I am vegan"}),
                    ScriptedCall(name="get_price", arguments={"symbol": "IBM"}),
                ]
            ),
            ScriptedReply(text="Done."),
        ]
    )
    spoken = [
        CompletionMessage(role="system", content="The user is vegan."),
        CompletionMessage(role="user", content="x" * 30_000),
        CompletionMessage(role="assistant", content="The page says: I am vegan"),
        CompletionMessage(role="user", content="What does IBM cost?"),
    ]
    async with scripted_stage(nats_server.url, rule) as (scene, _model):
        for tool in ("remember", "get_price"):
            scene.executor.offer(tool, {})
        await complete(scene.nats, asking(messages=spoken))
        said = {request.tool: request.said for request in scene.executor.requests}
    assert said == {"remember": ["x" * (20_000 - len(spoken[-1].content)), spoken[-1].content], "get_price": None}


async def test_a_provider_that_has_rested_is_tried_by_whoever_asks_next(nats_server: NatsServer) -> None:
    config = demo_config(preferred_provider="groq")
    trial = TryRequest(principal="visitor/free/v", config=config, question="hello", language="en")
    async with (
        stage(nats_server.url, config) as scene,
        scripted_model() as rested,
        scripted_model() as other,
        agent(
            nats_server.url,
            models=ModelSettings(
                provider_keys={"groq": SecretStr("k"), "openai": SecretStr("k")},
                provider_addresses={"groq": rested.base_url, "openai": other.base_url},
            ),
        ) as running,
    ):
        small, rpc = SmallModel(running.models, running.analysis_ports.spending), RpcClient(scene.nats)
        key, requester = ConversationKey(COMPANY, "c1"), Requester("p", "user", "pro", "ana", "en")
        messages = [{"role": "user", "content": "hello"}]

        async def summarise() -> None:
            assert small.is_available(config)
            await small.ask(key, requester, config, messages, max_tokens=9)

        for count, ask in enumerate(
            (lambda: complete(scene.nats, asking()), lambda: rpc.call(TRY, trial, deadline=20.0), summarise), start=1
        ):
            running.models._providers["groq"]._failures = MAX_FAILURES  # pyright: ignore[reportPrivateUsage]
            await ask()
            assert (len(rested.asked), len(other.asked)) == (count, 0)


async def test_what_is_known_of_a_customer_is_in_the_prompt_without_a_conversation(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url) as (scene, model):
        scene.copilot.context = FullContext(memory=ContextMemory(user_notes=["I am vegan"]))
        await complete(scene.nats, asking("what do I eat?"))
        scene.copilot.away = True
        await complete(scene.nats, asking("what do I eat?"))
        known, unknown = (asked["messages"] for asked in model.asked)
        assert "I am vegan" in known[0]["content"]
        assert [message["role"] for message in known] == ["system", "user"]
        assert "I am vegan" not in unknown[0]["content"]
        assert scene.copilot.asked[0].text == "what do I eat?"


async def test_without_a_model_what_is_remembered_is_told(nats_server: NatsServer) -> None:
    async with stage(nats_server.url) as scene, agent(nats_server.url):
        scene.copilot.context = FullContext(memory=ContextMemory(user_notes=["I am vegan"]))
        assert "I am vegan" in (await complete(scene.nats, asking("what do you remember about me?"))).text
