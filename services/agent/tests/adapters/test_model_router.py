"""Providers over real HTTP: streams, failures of every kind, retries, fail-over, and who is chosen."""

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import aiohttp
import pytest

import runtime.setting_names
from agent.adapters.model_router import configured_router
from agent.adapters.openai_compatible import OpenAICompatible
from agent.adapters.provider_client import ProviderEndpoint
from agent.domain.turn.journal import RequestedCall, TokenCount
from agent.errors import BadToolCallError, ModelBusyError, ModelDownError, ModelError, ModelRefusedError
from agent.llm.fallback import ask
from agent.ports import ModelChoice
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.endpoint import HI
from agent.testing.heard import RecordingSink
from contracts.providers import KEYED, KEYS, ProviderInfo


def provider(server: ScriptedModel, session: aiohttp.ClientSession, **changes: Any) -> OpenAICompatible:
    endpoint = ProviderEndpoint("compatible", server.base_url, "key-for-tests")
    return OpenAICompatible(replace(endpoint, **changes), session)


async def test_text_is_streamed_and_counted(session: aiohttp.ClientSession) -> None:
    heard = RecordingSink()
    async with scripted_model(default=ScriptedReply(text="one two three", prompt_tokens=7)) as server:
        reply = await provider(server, session).reply(HI, heard)
    assert reply.text == "one two three" == heard.said
    assert 1 <= len(heard.pieces) <= 3  # what comes in one packet goes on in one piece
    assert reply.usage == TokenCount(7, 3)
    assert (reply.model, reply.provider) == ("m", "compatible")


async def test_what_a_model_thinks_aloud_is_neither_streamed_nor_kept(session: aiohttp.ClientSession) -> None:
    heard, thinking = RecordingSink(), ScriptedReply(text="<think> They want\n a price. </think> It costs 49 €.")
    async with scripted_model(default=thinking) as server:
        reply = await provider(server, session).reply(HI, heard)
    assert reply.text == "It costs 49 €." == heard.said


async def test_the_request_is_what_the_prompt_says(session: aiohttp.ClientSession) -> None:
    async with scripted_model() as server:
        await provider(server, session).reply(HI, RecordingSink())
        asked = server.asked[0]
    assert asked["tools"] == [
        {"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object"}}}
    ]
    assert (asked["tool_choice"], asked["max_tokens"], asked["temperature"]) == ("auto", 50, 0.7)
    assert asked["stream_options"] == {"include_usage": True}


async def test_tool_calls_are_put_together_from_their_pieces(session: aiohttp.ClientSession) -> None:
    calls = [ScriptedCall(name="look", arguments={"symbol": "AAPL"}), ScriptedCall(name="look", arguments={"n": 1})]
    async with scripted_model(default=ScriptedReply(tool_calls=calls)) as server:
        reply = await provider(server, session).reply(HI, RecordingSink())
    assert reply.calls == (
        RequestedCall("look", '{"symbol":"AAPL"}', "call_0"),
        RequestedCall("look", '{"n":1}', "call_1"),
    )


async def test_one_connection_serves_many_calls(session: aiohttp.ClientSession) -> None:
    async with scripted_model() as server:
        model = provider(server, session)
        for _ in range(5):
            await model.reply(HI, RecordingSink())
        connector = session.connector
        assert connector is not None
        assert len([address for pool in connector._conns.values() for address in pool]) == 1  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ScriptedReply(status=429, retry_after=3), ModelBusyError),
        (ScriptedReply(status=500), ModelDownError),
        (ScriptedReply(status=401, error_code="invalid_api_key"), ModelRefusedError),
        (ScriptedReply(status=400, error_code="tool_use_failed"), BadToolCallError),
        (ScriptedReply(text="one two three", cut_after=1), ModelDownError),
        (ScriptedReply(text=""), ModelDownError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments='{"symbol": ')]), BadToolCallError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments="[1]")]), BadToolCallError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look")] * 17), BadToolCallError),
    ],
    ids=["429", "500", "401", "tool_use_failed", "cut", "empty", "malformed", "no object", "too many"],
)
async def test_each_failure_has_its_error(
    session: aiohttp.ClientSession, reply: ScriptedReply, error: type[ModelError]
) -> None:
    async with scripted_model(default=reply) as server:
        with pytest.raises(error) as caught:
            await provider(server, session).reply(HI, RecordingSink())
    assert "key-for-tests" not in str(caught.value)


async def test_a_hanging_server_is_given_up_in_time(session: aiohttp.ClientSession) -> None:
    async with scripted_model(default=ScriptedReply(hang=True)) as server:
        with pytest.raises(ModelDownError):
            await provider(server, session, silence=0.1).reply(HI, RecordingSink())
        with pytest.raises(ModelDownError):
            await provider(server, session).reply(replace(HI, time_limit=0.1), RecordingSink())


async def test_nobody_at_the_address_is_a_failure_too(session: aiohttp.ClientSession) -> None:
    async with scripted_model() as server:
        gone = server.base_url
    with pytest.raises(ModelDownError, match="cannot be reached"):
        await OpenAICompatible(ProviderEndpoint("compatible", gone, None), session).reply(HI, RecordingSink())


async def test_a_failure_is_retried_once_and_what_was_said_is_taken_back(session: aiohttp.ClientSession) -> None:
    heard = RecordingSink()
    rule = Rule(replies=[ScriptedReply(text="half an", cut_after=1), ScriptedReply(text="a whole answer")])
    async with scripted_model(rule) as server:
        reply = await ask(ModelChoice(((provider(server, session), "m"),)), HI, heard)
    assert reply.text == "a whole answer" == heard.said
    assert heard.restarts == 1


async def test_a_busy_server_is_asked_again_after_the_pause_it_names(session: aiohttp.ClientSession) -> None:
    rule = Rule(replies=[ScriptedReply(status=429, retry_after=0.05), ScriptedReply(text="now")])
    async with scripted_model(rule) as server:
        reply = await ask(ModelChoice(((provider(server, session), "m"),)), HI, RecordingSink())
        assert reply.text == "now"
        assert server.asked[1]["at"] - server.asked[0]["at"] >= 0.05


async def test_malformed_tool_calls_end_in_an_answer_without_tools(session: aiohttp.ClientSession) -> None:
    bad = ScriptedReply(status=400, error_code="tool_use_failed")
    async with scripted_model(Rule(replies=[bad, bad, ScriptedReply(text="without tools")])) as server:
        reply = await ask(ModelChoice(((provider(server, session), "m"),)), HI, RecordingSink())
        assert reply.text == "without tools"
        assert ["tools" in asked for asked in server.asked] == [True, True, False]


async def test_a_model_that_calls_tools_when_told_to_answer_is_asked_without_them(
    session: aiohttp.ClientSession,
) -> None:
    rule = Rule(replies=[ScriptedReply(tool_calls=[ScriptedCall(name="look")]), ScriptedReply(text="fine")])
    async with scripted_model(rule) as server:
        prompt = replace(HI, tool_choice="none")
        reply = await ask(ModelChoice(((provider(server, session), "m"),)), prompt, RecordingSink())
    assert reply.text == "fine"


async def test_the_next_provider_answers_when_one_fails(session: aiohttp.ClientSession) -> None:
    async with (
        scripted_model(default=ScriptedReply(status=500)) as broken,
        scripted_model(default=ScriptedReply(text="me")) as works,
    ):
        candidates = ((provider(broken, session), "big"), (provider(works, session), "small"))
        reply = await ask(ModelChoice(candidates), HI, RecordingSink())
        assert (reply.text, reply.model) == ("me", "small")
        assert len(broken.asked) == 2


async def test_a_silent_provider_is_left_at_once_when_there_is_another(session: aiohttp.ClientSession) -> None:
    async with (
        scripted_model(default=ScriptedReply(hang=True)) as silent,
        scripted_model(default=ScriptedReply(text="me")) as works,
    ):
        candidates = ((provider(silent, session, silence=0.1), "big"), (provider(works, session), "small"))
        reply = await ask(ModelChoice(candidates), HI, RecordingSink())
        assert reply.text == "me"
        assert len(silent.asked) == 1


async def test_a_refused_key_is_not_tried_twice(session: aiohttp.ClientSession) -> None:
    async with scripted_model(default=ScriptedReply(status=401)) as server:
        with pytest.raises(ModelRefusedError, match="check its key"):
            await ask(ModelChoice(((provider(server, session), "m"),)), HI, RecordingSink())
        assert len(server.asked) == 1


async def test_a_cancelled_call_is_hung_up_on(session: aiohttp.ClientSession) -> None:
    async with scripted_model(default=ScriptedReply(hang=True)) as server:
        changed = server.changed
        task = asyncio.create_task(provider(server, session).reply(HI, RecordingSink()))
        await asyncio.wait_for(changed.wait(), 20)
        hung_up = server.changed
        task.cancel()
        await asyncio.wait_for(hung_up.wait(), 20)
        assert server.asked[0]["cancelled"]


def _names(choice: ModelChoice) -> list[tuple[str, str]]:
    return [(model.provider, name) for model, name in choice.candidates]


async def test_without_any_key_the_offline_assistant_answers(
    session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("GROQ_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "NEXUS_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    models = configured_router(ModelSettings(), session)
    assert _names(models.chosen("groq", "llama-3.3-70b-versatile")) == [("offline", "offline-rules")]
    assert models.names == ["offline"]


async def test_the_preferred_provider_comes_first_and_the_chain_follows(
    session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "g")
    monkeypatch.setenv("OPENAI_API_KEY", "o")
    monkeypatch.setenv("NEXUS_LLM_CHAIN", "openai,groq")
    models = configured_router(ModelSettings(), session)
    assert _names(models.chosen("groq", "meta-llama/llama-4-scout-17b")) == [
        ("groq", "meta-llama/llama-4-scout-17b-16e-instruct"),
        ("openai", "gpt-4.1-mini"),
    ]
    assert _names(models.chosen("anthropic", "claude"))[0][0] == "openai"
    assert _names(models.chosen("offline", "x")) == [("offline", "offline-rules")]


async def test_a_server_named_in_the_environment_wins_over_what_companies_prefer(
    session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROQ_API_KEY", "g")
    monkeypatch.setenv("NEXUS_LLM_BASE_URL", "http://127.0.0.1:1/v1")
    monkeypatch.setenv("NEXUS_LLM_MODEL", "mine")
    models = configured_router(ModelSettings(), session)
    assert _names(models.chosen("groq", "x")) == [("compatible", "mine")]


@pytest.mark.parametrize("provider", KEYED.values(), ids=KEYED)
async def test_a_key_configures_each_provider_of_the_registry(
    provider: ProviderInfo, session: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in (*KEYS.values(), "NEXUS_LLM_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    assert provider.key is not None
    (tmp_path / ".env").write_text(f"{provider.key}=from-the-file\n")
    monkeypatch.setenv(provider.address_variable, "http://127.0.0.1:1/v1")
    settings = ModelSettings()
    assert {name: key.get_secret_value() for name, key in settings.provider_keys.items()} == {
        provider.name: "from-the-file"
    }
    assert settings.provider_addresses == {provider.name: "http://127.0.0.1:1/v1"}
    models = configured_router(settings, session)
    assert _names(models.chosen("unknown", "x")) == [(provider.name, provider.default)]
    monkeypatch.setenv(provider.key, "from-the-environment")
    assert ModelSettings().provider_keys[provider.name].get_secret_value() == "from-the-environment"
    monkeypatch.setenv(provider.key, "")
    assert ModelSettings(_env_file=None).provider_keys == {}  # pyright: ignore[reportCallIssue] - pydantic-settings' own
    assert ModelSettings(provider_keys={}).provider_keys == {}
    monkeypatch.setattr(runtime.setting_names, "SECRETS", tmp_path)
    (tmp_path / ".env").unlink()
    (tmp_path / provider.key).write_text("from-a-secret\n")
    assert ModelSettings().provider_keys[provider.name].get_secret_value() == "from-a-secret"
