"""Help for human agents, over the bus: suggested replies, better wording, the list of providers."""

import pytest

from agent.scripted_model.script import Rule, ScriptedReply
from agent.settings import ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.scripted_stage import scripted_stage
from agent.testing.stage import agent, stage
from contracts.agent_rpc import (
    IMPROVE,
    PROVIDERS,
    SUGGEST,
    SUMMARY,
    ImproveRequest,
    ProvidersRequest,
    SuggestRequest,
    SummaryRequest,
)
from runtime.calls.rpc import RpcClient
from runtime.errors import RpcError
from runtime.testing.servers import NatsServer

QUIET = demo_config(ai_auto_response_enabled=False, custom_system_prompt="You sell bicycles.", temperature=0.2)
THREE = '["Yes, until eight.", "We close at eight tonight.", "Until eight; shall I reserve one?"]'


async def test_three_suggestions_come_from_the_companys_prompt_and_model(nats_server: NatsServer) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(text=f"Here you are: {THREE}"), config=QUIET) as (
        scene,
        model,
    ):
        await scene.visitor("c1", "are you open tonight?")
        await scene.operator("c1", "Let me see.")
        reply = await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        assert reply.suggestions[0] == "Yes, until eight."
        assert len(set(reply.suggestions)) == 3
        assert reply.model == "scripted"
        (asked,) = model.asked
        assert asked["messages"][0]["content"].startswith("You sell bicycles.")
        assert asked["messages"][1]["content"] == "Visitor: are you open tonight?\nTeam: Let me see."
        assert asked["temperature"] == 0.2
        assert "tools" not in asked


@pytest.mark.parametrize(
    "said",
    [
        "1. Yes.\n2. yes!\n3. YES",
        "I would rather not say.",
        '["Only one"]',
        "<think>[1, 2]</think>- Yes\n- Perhaps\n- No",
    ],
    ids=["the same thrice", "none", "one", "a list"],
)
async def test_there_are_always_three_distinct_ones(nats_server: NatsServer, said: str) -> None:
    async with scripted_stage(nats_server.url, default=ScriptedReply(text=said), config=QUIET) as (scene, model):
        await scene.visitor("c1", "¿abren hoy?")
        reply = await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        assert len({text.casefold().strip(" .!") for text in reply.suggestions}) == 3
        assert len(model.asked) <= 2


@pytest.mark.parametrize(
    ("said", "word", "asked"),
    [("¿cuánto cuesta enviarlo a casa?", "Gracias", "Pregunta"), ("how much does it cost?", "Thank", "Asked")],
)
async def test_without_a_model_help_speaks_the_conversations_language(
    nats_server: NatsServer, said: str, word: str, asked: str
) -> None:
    async with stage(nats_server.url, QUIET) as scene, agent(nats_server.url):
        await scene.visitor("c1", said)
        reply = await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        assert reply.suggestions[0].startswith(word)
        assert reply.model == "offline-rules"
        summary = await RpcClient(scene.nats).call(SUMMARY, SummaryRequest(company_id=COMPANY, conversation_id="c1"))
        assert summary.summary == [f"{asked}: «{said}»"]


async def test_suggestions_are_refused_where_they_are_off_or_there_is_no_conversation(nats_server: NatsServer) -> None:
    async with stage(nats_server.url, QUIET) as scene, agent(nats_server.url):
        rpc = RpcClient(scene.nats)
        for company, conversation, code in ((COMPANY, "none", "NOT_FOUND"), ("other", "c1", "NOT_FOUND")):
            with pytest.raises(RpcError) as caught:
                await rpc.call(SUGGEST, SuggestRequest(company_id=company, conversation_id=conversation))
            assert caught.value.code == code
    off = QUIET.model_copy(update={"ai_suggestions_enabled": False})
    async with stage(nats_server.url, off) as scene, agent(nats_server.url):
        with pytest.raises(RpcError) as caught:
            await RpcClient(scene.nats).call(SUGGEST, SuggestRequest(company_id=COMPANY, conversation_id="c1"))
        assert caught.value.code == "FORBIDDEN"


async def test_a_draft_is_improved_in_the_tone_and_language_that_are_asked_for(nats_server: NatsServer) -> None:
    async with scripted_stage(
        nats_server.url, default=ScriptedReply(text='"We are open until eight."'), config=QUIET
    ) as (scene, model):
        await scene.visitor("c1", "are you open tonight?")
        request = ImproveRequest(
            company_id=COMPANY, text="abrimos hasta las 8", tone="formal", locale="en-US", conversation_id="c1"
        )
        reply = await RpcClient(scene.nats).call(IMPROVE, request)
        assert (reply.text, reply.model) == ("We are open until eight.", "scripted")
        system, user = (message["content"] for message in model.asked[0]["messages"])
        assert "Tone: formal." in system
        assert "Language of the final text: en-US." in system
        assert user == "Visitor: are you open tonight?\n\n<draft>\nabrimos hasta las 8\n</draft>"


async def test_without_a_model_a_draft_is_put_in_order_and_keeps_its_words(nats_server: NatsServer) -> None:
    async with stage(nats_server.url, QUIET) as scene, agent(nats_server.url):
        request = ImproveRequest(company_id=COMPANY, text="  hola ,  el plan cuesta 29 USD . te   ayudo")
        reply = await RpcClient(scene.nats).call(IMPROVE, request)
        assert (reply.text, reply.model) == ("Hola, el plan cuesta 29 USD. Te ayudo.", "offline-rules")
        with pytest.raises(RpcError) as caught:
            await RpcClient(scene.nats).call(IMPROVE, ImproveRequest(company_id=COMPANY, text="  \n"))
        assert caught.value.code == "BAD_FIELD"


@pytest.mark.parametrize(("status", "again"), [(500, True), (401, False)])
async def test_a_model_that_is_away_is_said_to_be_and_whether_it_may_come_back(
    nats_server: NatsServer, status: int, *, again: bool
) -> None:
    async with scripted_stage(
        nats_server.url, Rule(replies=[ScriptedReply(status=status)], again=True), config=QUIET
    ) as (scene, _model):
        with pytest.raises(RpcError) as caught:
            await RpcClient(scene.nats).call(IMPROVE, ImproveRequest(company_id=COMPANY, text="hello"))
        assert (caught.value.code, caught.value.retryable) == ("UNAVAILABLE", again)


async def test_every_provider_is_listed_and_whether_it_can_be_used(nats_server: NatsServer) -> None:
    keys = ModelSettings.model_validate({"base_url": None, "provider_keys": {"groq": "g"}})
    async with stage(nats_server.url, QUIET) as scene, agent(nats_server.url, models=keys):
        reply = await RpcClient(scene.nats).call(PROVIDERS, ProvidersRequest(company_id=COMPANY))
        assert [(provider.id, provider.configured) for provider in reply.providers] == [
            ("groq", True),
            ("openai", False),
            ("anthropic", False),
            ("compatible", False),
            ("offline", True),
        ]
        groq = reply.providers[0].models
        assert [(model.id, model.params, model.recommended_use) for model in groq] == [
            ("llama-3.3-70b-versatile", "70B", "general"),
            ("llama-3.1-8b-instant", "8B", "fast"),
            ("meta-llama/llama-4-scout-17b-16e-instruct", "17B", "balanced"),
            ("meta-llama/llama-4-maverick-17b-128e-instruct", "17B", "complex tasks"),
            ("qwen/qwen3-32b", "32B", "reasoning"),
            ("moonshotai/kimi-k2-instruct", None, "instructions"),
        ]
        assert [model.default for model in groq] == [True, False, False, False, False, False]
        assert {model.context_window for model in groq} == {128_000}
