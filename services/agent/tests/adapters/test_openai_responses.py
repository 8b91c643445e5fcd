"""Models that OpenAI serves over its Responses API alone, over real HTTP: requests and events are checked with the
types of OpenAI's own client."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any

import aiohttp
import pytest
from openai.types.responses import ResponseStreamEvent
from openai.types.responses.response_create_params import ResponseCreateParamsStreaming
from pydantic import TypeAdapter

from agent.adapters.openai_compatible import OpenAICompatible
from agent.adapters.provider_client import MAX_CALLS, MAX_REPLY_CHARS, ProviderEndpoint
from agent.domain.offered_tool import OfferedTool
from agent.domain.pictures import PICTURES, Picture
from agent.errors import BadToolCallError, ModelDeclinedError, ModelDownError, ModelRefusedError
from agent.testing.endpoint import HI, Answer, openai_error, serving, streamed
from agent.testing.heard import RecordingSink

LOOK = OfferedTool("look", "Looks.", "market", {"type": "object", "properties": {"at": {"type": "string"}}}, "Looking")
PROMPT = replace(
    HI,
    messages=[{"role": "system", "content": "Be brief."}, *HI.messages],
    tools=[LOOK],
    model="gpt-6-astra",
    stop=("END",),
)
RESPONSE: Mapping[str, Any] = {
    "id": "resp_1",
    "object": "response",
    "created_at": 1,
    "model": "gpt-6-astra-2026-09-03",
    "output": [],
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
}
USAGE = {
    "input_tokens": 7,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 30,
    "output_tokens_details": {"reasoning_tokens": 20},
    "total_tokens": 37,
}
THOUGHT: Mapping[str, Any] = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAAA"}
CALL = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "look",
    "arguments": '{"at": "x"}',
    "status": "completed",
}
EVENTS, REQUEST = TypeAdapter(ResponseStreamEvent), TypeAdapter(ResponseCreateParamsStreaming)


def done(item: Mapping[str, Any], index: int) -> dict[str, Any]:
    return {"type": "response.output_item.done", "item": item, "output_index": index}


def said(text: str, kind: str = "response.output_text.delta") -> dict[str, Any]:
    place = {"item_id": "msg_1", "output_index": 1, "content_index": 0}
    return {"type": kind, "delta": text, "logprobs": [], **place}


def ended(kind: str = "completed", **details: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", "response": {**RESPONSE, "status": kind, "usage": USAGE, **details}}


def events(*told: dict[str, Any]) -> bytes:
    """The stream, each event as OpenAI's client knows it."""
    numbered = [{**one, "sequence_number": number} for number, one in enumerate(told)]
    for one in numbered:
        EVENTS.validate_python(one)
    return streamed(*numbered)


def astra(body: dict[str, Any]) -> Answer:
    """GPT-6 Astra, which takes function tools over the Responses API alone, and no temperature."""
    if "messages" not in body:
        REQUEST.validate_python(body)
        if "temperature" in body:
            return openai_error("Unsupported parameter: 'temperature' is not supported with this model.", "temperature")
        if any(item.get("type") == "function_call_output" for item in body["input"]):
            return events(said("It "), said("is x."), ended())
        return events(done(THOUGHT, 0), done(CALL, 1), ended())
    if "max_tokens" in body:
        return openai_error("Unsupported parameter: 'max_tokens' is not supported with this model.", "max_tokens")
    if body.get("reasoning_effort") == "none":
        text = "Unsupported value: 'reasoning_effort' does not support 'none' with this model."
        return openai_error(text, "reasoning_effort", "unsupported_value")
    text = (
        "Function tools with reasoning_effort are not supported for gpt-6-astra in /v1/chat/completions. "
        "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    )
    return openai_error(text, "reasoning_effort")


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession() as session:
        yield session


def client(url: str, session: aiohttp.ClientSession) -> OpenAICompatible:
    return OpenAICompatible(ProviderEndpoint("openai", f"{url}/v1", "key"), session)


async def test_a_model_that_takes_tools_over_the_newer_api_alone_calls_one_and_answers(
    session: aiohttp.ClientSession,
) -> None:
    async with serving(astra) as endpoint:
        model = client(endpoint.url, session)
        reply = await model.reply(PROMPT, RecordingSink())
        assert [(call.model_id, call.tool, call.arguments) for call in reply.calls] == [
            ("call_1", "look", '{"at":"x"}')
        ]
        assert (reply.model, reply.usage.prompt, reply.usage.completion) == ("gpt-6-astra-2026-09-03", 7, 30)
        refused = len(endpoint.asked) - 1
        call = {"id": "call_1", "type": "function", "function": {"name": "look", "arguments": '{"at":"x"}'}}
        step: list[Mapping[str, Any]] = [
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "call_1", "content": "x"},
        ]
        heard = RecordingSink()
        reply = await model.reply(replace(PROMPT, messages=[*PROMPT.messages, *step]), heard)
        assert reply.text == heard.said == "It is x."
    assert refused == 4
    assert endpoint.paths == ["/v1/chat/completions"] * 3 + ["/v1/responses"] * 3
    last = endpoint.asked[-1]
    assert last["input"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "hi"},
        THOUGHT,
        {"type": "function_call", "call_id": "call_1", "name": "look", "arguments": '{"at":"x"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "x"},
    ]
    assert last["tools"] == [
        {
            "type": "function",
            "name": "look",
            "description": "Looks.",
            "parameters": LOOK.parameters,
            "strict": False,
        }
    ]
    assert (last["store"], last["stream"], last["tool_choice"]) == (False, True, "auto")
    assert last["reasoning"] == {"effort": "low"}
    assert last["max_output_tokens"] > 50
    assert not {"stop", "temperature", "stream_options", "reasoning_effort", "max_tokens"} & last.keys()


async def test_a_model_that_is_served_there_alone_sees_pictures_and_is_told_which_tool_to_call(
    session: aiohttp.ClientSession,
) -> None:
    def pro(body: dict[str, Any]) -> Answer:
        if "messages" in body:
            text = "This model is only supported in v1/responses and not in v1/chat/completions."
            return openai_error(text, "model", status=404)
        REQUEST.validate_python(body)
        if "reasoning" in body:
            text = "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model."
            return openai_error(text, "reasoning.effort", "unsupported_value")
        return events(said("A cat."), ended("incomplete", incomplete_details={"reason": "max_output_tokens"}))

    message = {"role": "user", "content": "What is it?", PICTURES: [Picture("cat.png", "image/png", "QUJD")]}
    prompt = replace(PROMPT, messages=[message], tool_choice="required", tool_name="look")
    async with serving(pro) as endpoint:
        reply = await client(endpoint.url, session).reply(prompt, RecordingSink())
    assert (reply.text, reply.cut) == ("A cat.", True)
    assert endpoint.asked[-1]["input"] == [
        {
            "role": "user",
            "content": [
                {"type": "input_text", "text": "What is it?"},
                {"type": "input_text", "text": "cat.png:"},
                {"type": "input_image", "image_url": "data:image/png;base64,QUJD", "detail": "auto"},
            ],
        }
    ]
    assert endpoint.asked[-1]["tool_choice"] == {"type": "function", "name": "look"}


@pytest.mark.parametrize(
    ("told", "error"),
    [
        ((said("It"), ended("failed", error={"code": "server_error", "message": "oh"})), ModelDownError),
        (({"type": "error", "code": "rate_limit_exceeded", "message": "slowly", "param": None},), ModelDownError),
        ((said("It"), ended("incomplete", incomplete_details={"reason": "content_filter"})), ModelDeclinedError),
        ((said("It"),), ModelDownError),
        ((said("x" * (MAX_REPLY_CHARS + 1)), ended()), ModelDownError),
        ((done({**CALL, "arguments": '"' + "x" * MAX_REPLY_CHARS}, 0), ended()), BadToolCallError),
        ((*[done(CALL, number) for number in range(MAX_CALLS + 1)], ended()), BadToolCallError),
        ((done({**CALL, "arguments": "{"}, 0), ended()), BadToolCallError),
        ((ended(),), ModelDownError),
    ],
)
async def test_what_is_no_answer_is_an_error(
    session: aiohttp.ClientSession, told: tuple[dict[str, Any], ...], error: type[Exception]
) -> None:
    only = openai_error("This model is only supported in v1/responses and not in v1/chat/completions.", status=404)
    async with serving(lambda body: only if "messages" in body else events(*told)) as endpoint:
        with pytest.raises(error):
            await client(endpoint.url, session).reply(PROMPT, RecordingSink())


async def test_a_server_without_that_api_has_refused(session: aiohttp.ClientSession) -> None:
    def old(body: dict[str, Any]) -> Answer:
        if "messages" in body:
            return openai_error("reasoning_effort is not supported", "reasoning_effort")
        return 404, {"error": "not found"}

    async with serving(old) as endpoint:
        with pytest.raises(ModelRefusedError):
            await client(endpoint.url, session).reply(PROMPT, RecordingSink())
    assert endpoint.paths[-1] == "/v1/responses"
