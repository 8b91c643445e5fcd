"""Providers' newer models over real HTTP: each endpoint here refuses what the real one refuses, in its own words."""

from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import aiohttp
import pytest

from agent.adapters.anthropic import Anthropic
from agent.adapters.known_models import KEPT_SECONDS, THOUGHT_TOKENS, KnownModel, KnownModels, without
from agent.adapters.openai_compatible import OpenAICompatible
from agent.adapters.provider_client import ProviderClient, ProviderEndpoint
from agent.domain.providers import listed, window_of
from agent.errors import ModelDownError, ModelRefusedError
from agent.ports import ModelRequest
from agent.testing.endpoint import HI, Answer, Endpoint, Refusal, openai_error, serving, streamed
from agent.testing.heard import RecordingSink
from contracts.providers import KEYED

PROMPT = replace(HI, model="gpt-6-luna")


def openai_text(text: str, reason: str = "stop", *, thought: bool = False) -> bytes:
    usage = {"prompt_tokens": 5, "completion_tokens": 50}
    return streamed(
        *([{"choices": [{"delta": {"reasoning": "Hm."}}]}] if thought else []),
        {"model": "it", "choices": [{"delta": {"content": text}, "finish_reason": reason}], "usage": usage},
    )


def anthropic_text(text: str, *, thought: bool = False) -> bytes:
    thinking = {"type": "content_block_start", "index": 0, "content_block": {"type": "thinking", "thinking": ""}}
    delta = {"type": "text_delta", "text": text}
    return streamed(
        {"type": "message_start", "message": {"model": "it", "usage": {"input_tokens": 5, "output_tokens": 1}}},
        *([thinking] if thought else []),
        {"type": "content_block_start", "index": 1, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 1, "delta": delta},
        {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 9}},
        {"type": "message_stop"},
    )


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def client(endpoint: Endpoint, session: aiohttp.ClientSession, provider: str = "openai") -> ProviderClient:
    made = Anthropic if provider == "anthropic" else OpenAICompatible
    return made(ProviderEndpoint(provider, endpoint.url, "key"), session)


def gpt_6(body: dict[str, Any]) -> Answer:
    """OpenAI's chat completions for GPT-6 Luna."""
    if "max_tokens" in body:
        text = (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead."
        )
        return openai_error(text, "max_tokens", "unsupported_parameter")
    if body.get("reasoning_effort") != "none" and "temperature" in body:
        text = "Unsupported value: 'temperature' does not support 0.7 with this model. Only the default (1) ..."
        return openai_error(text, "temperature", "unsupported_value")
    if body.get("reasoning_effort") != "none" and body.get("tools"):
        text = (
            "Function tools with reasoning_effort are not supported for gpt-6-luna in /v1/chat/completions. "
            "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
        )
        return openai_error(text, "reasoning_effort")
    return openai_text("hello")


async def test_a_reasoning_model_of_openai_answers_and_is_asked_its_way_from_then_on(
    session: aiohttp.ClientSession,
) -> None:
    async with serving(gpt_6) as endpoint:
        model = client(endpoint, session)
        assert (await model.reply(PROMPT, RecordingSink())).text == "hello"
        assert len(endpoint.asked) == 4
        assert (await model.reply(replace(PROMPT, model="gpt-6-luna"), RecordingSink())).text == "hello"
    assert len(endpoint.asked) == 5
    last = endpoint.asked[-1]
    assert (last["max_completion_tokens"], last["reasoning_effort"]) == (50, "none")
    assert last["tools"]
    assert not {"temperature", "max_tokens"} & last.keys()


async def test_another_model_of_the_same_endpoint_is_asked_as_always(session: aiohttp.ClientSession) -> None:
    async with serving(lambda body: gpt_6(body) if body["model"] == "gpt-6-luna" else openai_text("old")) as endpoint:
        model = client(endpoint, session)
        await model.reply(PROMPT, RecordingSink())
        assert (await model.reply(replace(PROMPT, model="gpt-4.1"), RecordingSink())).text == "old"
    assert (endpoint.asked[-1]["temperature"], endpoint.asked[-1]["max_tokens"]) == (0.7, 50)


@pytest.mark.parametrize(
    "refusal",
    [
        (422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "not permitted"}]}),
        openai_error("Unrecognized request argument supplied: 'stream_options'"),
        openai_error("stream_options: Extra inputs are not permitted"),
    ],
)
async def test_servers_name_the_parameter_in_many_ways(session: aiohttp.ClientSession, refusal: Refusal) -> None:
    async with serving(lambda body: refusal if "stream_options" in body else openai_text("hello")) as endpoint:
        assert (await client(endpoint, session, "compatible").reply(PROMPT, RecordingSink())).text == "hello"
    assert len(endpoint.asked) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        openai_error("This model's maximum context length is 8192 tokens.", "messages", "context_length_exceeded"),
        openai_error("Please stop sending the temperature of Madrid.", "messages"),
        openai_error("Incorrect API key provided", None, "invalid_api_key", 401),
        openai_error("'temperature' is wrong, and will be", "temperature"),
        (400, {"error": {"message": ["no", "text"], "code": {"a": 1}, "type": [], "param": {}}}),
        (404, {"error": "model not found"}),
    ],
)
async def test_a_refusal_that_no_change_helps_is_one(session: aiohttp.ClientSession, refusal: Refusal) -> None:
    async with serving(lambda body: refusal) as endpoint:
        with pytest.raises(ModelRefusedError):
            await client(endpoint, session).reply(PROMPT, RecordingSink())
    assert len(endpoint.asked) <= 2


@pytest.mark.parametrize(
    ("provider", "model", "refusal"),
    [
        (
            "groq",
            "llama-3.3-70b-versatile",
            openai_error(
                "The model `llama-3.3-70b-versatile` has been decommissioned and is no longer supported.",
                code="model_decommissioned",
            ),
        ),
        (
            "openai",
            "gpt-4.1-mini",
            openai_error("The model `gpt-4.1-mini` does not exist", None, "model_not_found", 404),
        ),
        (
            "anthropic",
            "claude-haiku-4-5",
            (404, {"type": "error", "error": {"type": "not_found_error", "message": "model: claude-haiku-4-5"}}),
        ),
    ],
)
async def test_a_model_that_is_no_longer_served_is_answered_for_by_its_successor(
    session: aiohttp.ClientSession, provider: str, model: str, refusal: Refusal
) -> None:
    text = anthropic_text if provider == "anthropic" else openai_text
    async with serving(lambda body: refusal if body["model"] == model else text("hello")) as endpoint:
        asked = client(endpoint, session, provider)
        for _ in range(2):
            assert (await asked.reply(replace(PROMPT, model=model), RecordingSink())).text == "hello"
    successor = KEYED[provider].successor
    assert successor is not None
    assert [body["model"] for body in endpoint.asked] == [model, successor.name, successor.name]


async def test_where_nobody_takes_its_place_the_refusal_is_told(session: aiohttp.ClientSession) -> None:
    gone = openai_error("The model does not exist", None, "model_not_found", 404)
    async with serving(lambda body: gone) as endpoint:
        with pytest.raises(ModelRefusedError, match="model_not_found"):
            await client(endpoint, session, "compatible").reply(PROMPT, RecordingSink())
        with pytest.raises(ModelRefusedError, match="model_not_found"):
            await client(endpoint, session, "groq").reply(PROMPT, RecordingSink())
    assert [body["model"] for body in endpoint.asked] == ["gpt-6-luna", "gpt-6-luna", "openai/gpt-oss-120b"]


def test_each_successor_has_a_window_and_a_price() -> None:
    for provider in KEYED.values():
        assert provider.successor is not None
        row = listed(provider.successor.name)
        assert row is not None
        assert row.price
        assert window_of(row.name)


def claude_5(body: dict[str, Any]) -> Answer:
    """Anthropic's newer models: no sampling, no forced tool, and thoughts before the answer."""
    for name in ("temperature", "top_p"):
        if name in body:
            message = f"`{name}` is deprecated for this model."
            return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    if body.get("tool_choice", {}).get("type") in ("any", "tool"):
        message = "tool_choice: forced tool use is not supported with this model."
        return 400, {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    return anthropic_text("hello", thought=True)


async def test_a_newer_model_of_anthropic_answers_also_where_a_tool_is_demanded(
    session: aiohttp.ClientSession,
) -> None:
    prompt = replace(PROMPT, model="claude-sonnet-5-5")
    async with serving(claude_5) as endpoint:
        model = client(endpoint, session, "anthropic")
        assert (await model.reply(prompt, RecordingSink())).text == "hello"
        assert len(endpoint.asked) == 2
        await model.reply(replace(prompt, tool_choice="required"), RecordingSink())
        assert endpoint.asked[-1]["tool_choice"] == {"type": "auto"}
        await model.reply(replace(prompt, tool_choice="none"), RecordingSink())
    assert endpoint.asked[-1]["tool_choice"] == {"type": "none"}
    assert endpoint.asked[0]["max_tokens"] == 50
    assert endpoint.asked[-1]["max_tokens"] == 50 + THOUGHT_TOKENS


async def test_thoughts_have_room_beside_the_answer_once_they_are_known(session: aiohttp.ClientSession) -> None:
    def answer(body: dict[str, Any]) -> bytes:
        return openai_text("hello" if body["max_tokens"] > 50 else "", "length", thought=True)

    async with serving(answer) as endpoint:
        heard = RecordingSink()
        assert (await client(endpoint, session, "groq").reply(PROMPT, heard)).text == "hello" == heard.said
    assert [body["max_tokens"] for body in endpoint.asked] == [50, 50 + THOUGHT_TOKENS]


async def test_who_only_thinks_has_failed(session: aiohttp.ClientSession) -> None:
    async with serving(lambda body: openai_text("", "length", thought=True)) as endpoint:
        with pytest.raises(ModelDownError, match="empty"):
            await client(endpoint, session).reply(PROMPT, RecordingSink())
    assert len(endpoint.asked) == 2


def deepseek(body: dict[str, Any]) -> Answer:
    """DeepSeek V4, which thinks before it calls a tool, and wants to hear its thoughts again."""
    calls = [one for one in body["messages"] if one.get("tool_calls")]
    if any("reasoning_content" not in call for call in calls):
        return openai_error("The reasoning_content in the thinking mode must be passed back to the API.")
    if calls:
        return openai_text(f"I had thought: {calls[0]['reasoning_content']}")
    thought = {"delta": {"reasoning_content": f"They said {body['messages'][-1]['content']}."}}
    call = {"index": 0, "id": "look:0", "function": {"name": "look", "arguments": "{}"}}
    asked = {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
    return streamed({"model": "it", "choices": [thought]}, {"choices": [asked]})


async def test_thoughts_before_a_call_go_back_with_its_result_in_their_own_conversation(
    session: aiohttp.ClientSession,
) -> None:
    def asked(text: str, *, done: bool = False) -> ModelRequest:
        call = {"id": "look:0", "type": "function", "function": {"name": "look", "arguments": "{}"}}
        step = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "look:0", "content": "{}"},
        ]
        system = {"role": "system", "content": f"It is {len(step)} o'clock." if done else "Be brief."}
        return replace(PROMPT, messages=[system, {"role": "user", "content": text}, *(step if done else [])])

    async with serving(deepseek) as endpoint:
        model, other = client(endpoint, session, "compatible"), client(endpoint, session, "compatible")
        for text in ("one", "two"):
            assert (await model.reply(asked(text), RecordingSink())).calls
        for text in ("one", "two"):
            reply = await model.reply(asked(text, done=True), RecordingSink())
            assert reply.text == f"I had thought: They said {text}."
        assert (await other.reply(asked("one", done=True), RecordingSink())).text == "I had thought: "


async def test_thoughts_do_not_go_back_to_who_has_another_name_for_them(session: aiohttp.ClientSession) -> None:
    def groq(body: dict[str, Any]) -> Answer:
        if any("reasoning_content" in one for one in body["messages"]):
            return openai_error("'messages.1' : property 'reasoning_content' is unsupported")
        if body["messages"][-1]["role"] == "tool":
            return openai_text("looked")
        call = {"index": 0, "id": "c1", "function": {"name": "look", "arguments": "{}"}}
        asked = {"delta": {"tool_calls": [call]}, "finish_reason": "tool_calls"}
        return streamed({"choices": [{"delta": {"reasoning": "Hm."}}]}, {"choices": [asked]})

    call = {"id": "c1", "type": "function", "function": {"name": "look", "arguments": "{}"}}
    step = [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "{}"},
    ]
    async with serving(groq) as endpoint:
        model = client(endpoint, session, "groq")
        assert (await model.reply(PROMPT, RecordingSink())).calls
        assert (
            await model.reply(replace(PROMPT, messages=[*PROMPT.messages, *step]), RecordingSink())
        ).text == "looked"


def test_what_is_known_is_forgotten_after_an_hour() -> None:
    now = [0.0]
    remedies = (without("stop"),)
    models = KnownModels(remedies, None, clock=lambda: now[0])
    models.learn("m", KnownModel("m", remedies))
    assert models.of("m").remedies == remedies
    now[0] = KEPT_SECONDS + 1
    assert models.of("m") == KnownModel("m")
