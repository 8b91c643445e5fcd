"""What OpenAI's parameters of a chat completion do here: each is honoured, or refused by its name."""

from collections.abc import AsyncIterator
from typing import Any, get_type_hints

import openai
import pytest
from openai import AsyncOpenAI
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from pydantic import BaseModel

from contracts.completion_rpc import CompletionPicture
from contracts.events.chat import Sampling
from gateway.doors.completions import request as chat
from gateway.doors.responses import requests as responses
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.openai import openai_client
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.errors import RpcError

HI: list[Any] = [{"role": "user", "content": "hi"}]
WEATHER: dict[str, Any] = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}
PIXEL = "data:image/png;base64," + (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


def allowed(*names: str, mode: str = "auto") -> dict[str, Any]:
    """A choice among these tools."""
    tools = [{"type": "function", "function": {"name": name}} for name in names]
    return {"type": "allowed_tools", "allowed_tools": {"mode": mode, "tools": tools}}


CANNOT: list[tuple[dict[str, Any], str]] = [
    ({"n": 2}, "n"),
    ({"messages": []}, "messages"),
    ({"temperature": 3}, "temperature"),
    ({"messages": [{"role": "robot", "content": "x"}]}, "messages[0].role"),
    (
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {}}]}]},
        "messages[0].content[0]",
    ),
    ({"messages": [{"role": "tool", "tool_call_id": "c9", "content": "x"}]}, "messages[0].tool_call_id"),
    (
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{"}}],
                }
            ]
        },
        "messages[0].tool_calls[0].function.arguments",
    ),
    (
        {
            "messages": [
                {
                    "role": "assistant",
                    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
                },
                {"role": "user", "content": "and?"},
            ]
        },
        "messages[1]",
    ),
    ({"response_format": {"type": "xml"}}, "response_format"),
    ({"response_format": {"type": "json_schema"}}, "response_format.json_schema.schema"),
    (
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {"type": 7}}}},
        "response_format.json_schema.schema",
    ),
    ({"tool_choice": "required"}, "tool_choice"),
    *(
        ({name: value}, name)
        for name, value in (
            ("logprobs", True),
            ("top_logprobs", 2),
            ("functions", [{"name": "f"}]),
            ("function_call", "auto"),
            ("modalities", ["text", "audio"]),
            ("audio", {"voice": "alloy", "format": "wav"}),
            ("logit_bias", {"50256": -100}),
            ("reasoning_effort", "low"),
            ("verbosity", "high"),
            ("web_search_options", {}),
            ("moderation", {"model": "omni-moderation-latest"}),
            ("store", True),
            ("top_p", 1.5),
            ("frequency_penalty", 3),
            ("presence_penalty", -3),
            ("seed", "one"),
            ("parallel_tool_calls", "never"),
            ("max_completion_tokens", 0),
        )
    ),
    ({"tools": [{"type": "custom", "custom": {"name": "run"}}]}, "tools[0].type"),
    ({"tools": [WEATHER], "tool_choice": {"type": "custom", "custom": {"name": "run"}}}, "tool_choice"),
    ({"tools": [WEATHER], "tool_choice": allowed("other")}, "tool_choice"),
    ({"stop": ["a", "b", "c", "d", "e"]}, "stop"),
    ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
    *(
        ({"messages": [{"role": role, "content": [{"type": "image_url", "image_url": {"url": url}}]}]}, param)
        for role, url, param in (
            ("user", "https://example.com/cat.png", "messages[0].content[0]"),
            ("user", "data:image/png;base64,???", "messages[0].content[0]"),
            ("user", "data:image/svg+xml;base64,PHN2Zz48L3N2Zz4=", "messages[0].content[0]"),
            ("user", "data:image/png;base64,aGVsbG8=", "messages[0].content[0]"),
            ("system", PIXEL, "messages[0].content[0]"),
        )
    ),
    ({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": PIXEL}}] * 6}]}, "messages"),
    ({"tools": [WEATHER, WEATHER]}, "tools"),
    (
        {"tools": [WEATHER], "tool_choice": {"type": "function", "function": {"name": "other"}}},
        "tool_choice",
    ),
]


@pytest.fixture
async def client(gateway: GatewayUnderTest, tokens: TokenMaker) -> AsyncIterator[AsyncOpenAI]:
    """The official client, with a customer's token as its key; it does not try again by itself."""
    key = tokens.user("ana", "user")
    async with openai_client(gateway.url, key, timeout=40) as made:
        yield made


@pytest.mark.parametrize(("changes", "param"), CANNOT)
async def test_what_cannot_be_done_is_refused_by_name(
    client: AsyncOpenAI, completions: CompletionsStandIn, changes: dict[str, Any], param: str
) -> None:
    body = {"model": "nexus", "messages": HI, **changes}
    with pytest.raises(openai.BadRequestError) as caught:
        await client.post("/chat/completions", body=body, cast_to=object)
    assert caught.value.param == param
    assert caught.value.type == "invalid_request_error"
    assert completions.asked == []


NOTHING_ASKED_FOR: dict[str, Any] = {
    "n": 1,
    "logprobs": False,
    "top_logprobs": 0,
    "modalities": ["text"],
    "audio": None,
    "logit_bias": {},
    "verbosity": "medium",
    "store": False,
    "metadata": {"a": "b"},
    "user": "u",
    "safety_identifier": "u",
    "prompt_cache_key": "k",
    "service_tier": "auto",
    "prediction": {"type": "content", "content": "x"},
    "stream_options": {"include_obfuscation": False},
}


WITHOUT_EFFECT = {
    *("metadata", "user", "safety_identifier", "service_tier", "prediction"),
    *("prompt_cache_key", "prompt_cache_options", "prompt_cache_retention"),
}


@pytest.mark.parametrize(
    ("parameters", "request_model", "unsupported", "extra"),
    [
        (CompletionCreateParamsNonStreaming, chat.ChatCompletionRequest, chat._UNSUPPORTED, set[str]()),  # pyright: ignore[reportPrivateUsage]
        (ResponseCreateParamsNonStreaming, responses.CreateResponse, responses._UNSUPPORTED, {"stream_options"}),  # pyright: ignore[reportPrivateUsage]
    ],
)
def test_every_parameter_of_the_official_client_is_honoured_refused_or_without_effect(
    parameters: type, request_model: type[BaseModel], unsupported: dict[str, Any], extra: set[str]
) -> None:
    known = request_model.model_fields.keys() | unsupported.keys() | WITHOUT_EFFECT | extra
    assert get_type_hints(parameters).keys() - known == set()


async def test_how_words_are_drawn_is_passed_on(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    drawn: dict[str, Any] = {"top_p": 0.5, "frequency_penalty": 0.1, "presence_penalty": -0.1, "seed": 7}
    body = {"model": "nexus", "messages": HI, "parallel_tool_calls": False, **drawn, **NOTHING_ASKED_FOR}
    await client.post("/chat/completions", body=body, cast_to=object)
    await client.chat.completions.create(model="nexus", messages=HI)
    asked, plain = completions.asked
    assert (asked.sampling, asked.parallel_calls) == (Sampling(**drawn), False)
    assert (plain.sampling, plain.parallel_calls) == (None, True)


@pytest.mark.parametrize("mode", ["auto", "required"])
async def test_a_choice_among_some_of_the_callers_tools(
    client: AsyncOpenAI, completions: CompletionsStandIn, mode: str
) -> None:
    other = {"type": "function", "function": {"name": "other"}}
    body = {"model": "nexus", "messages": HI, "tools": [WEATHER, other], "tool_choice": allowed("other", mode=mode)}
    await client.post("/chat/completions", body=body, cast_to=object)
    (asked,) = completions.asked
    assert ([tool.name for tool in asked.tools], asked.tool_choice, asked.tool_name) == (["other"], mode, None)


async def test_pictures_are_passed_on_as_what_they_are(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    parts: list[Any] = [
        {"type": "text", "text": "what is it?"},
        {"type": "image_url", "image_url": {"url": PIXEL.replace("png", "jpeg", 1), "detail": "low"}},
    ]
    await client.chat.completions.create(model="nexus", messages=[{"role": "user", "content": parts}])
    (said,) = completions.asked[0].messages
    content = PIXEL.partition(",")[2]
    assert said.content == "what is it?"
    assert said.pictures == [CompletionPicture(name="picture 1", type="image/png", content=content)]
    completions.error = RpcError("BAD_FIELD", "messages: the model takes no pictures", reason="no_pictures")
    with pytest.raises(openai.BadRequestError, match="takes no pictures") as caught:
        await client.chat.completions.create(model="nexus", messages=[{"role": "user", "content": parts}])
    assert caught.value.param == "messages"
