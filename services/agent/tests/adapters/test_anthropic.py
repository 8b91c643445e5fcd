"""Anthropic's messages API over real HTTP: what is asked, what is read, and every way to fail."""

from dataclasses import replace
from typing import Any

import aiohttp
import orjson
import pytest

from agent.adapters.anthropic import VERSION, Anthropic
from agent.adapters.anthropic_request import request_body
from agent.adapters.provider_client import MAX_REPLY_CHARS, ProviderEndpoint
from agent.domain.turn.journal import RequestedCall, TokenCount
from agent.errors import BadToolCallError, ModelBusyError, ModelDownError, ModelError, ModelRefusedError
from agent.scripted_model.script import ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.testing.endpoint import HI
from agent.testing.heard import RecordingSink

PROMPT = replace(
    HI,
    messages=[{"role": "system", "content": "Be brief."}, *HI.messages],
    model="claude-haiku-4-5",
    temperature=1.7,
)


def provider(server: ScriptedModel, session: aiohttp.ClientSession, **changes: Any) -> Anthropic:
    return Anthropic(replace(ProviderEndpoint("anthropic", server.base_url, "key-for-tests"), **changes), session)


async def test_text_is_streamed_and_counted(session: aiohttp.ClientSession) -> None:
    heard = RecordingSink()
    async with scripted_model(default=ScriptedReply(text="one two three", prompt_tokens=7)) as server:
        reply = await provider(server, session).reply(PROMPT, heard)
        assert (server.asked[0]["apiKey"], server.asked[0]["version"]) == ("key-for-tests", VERSION)
    assert reply.text == "one two three" == heard.said
    assert reply.usage == TokenCount(7, 3)
    assert (reply.model, reply.provider) == ("claude-haiku-4-5", "anthropic")


async def test_tool_calls_are_put_together_from_their_pieces(session: aiohttp.ClientSession) -> None:
    calls = [ScriptedCall(name="look", arguments={"symbol": "AAPL"}), ScriptedCall(name="look")]
    async with scripted_model(default=ScriptedReply(text="Let me look.", tool_calls=calls)) as server:
        reply = await provider(server, session).reply(PROMPT, RecordingSink())
    assert reply.text == "Let me look."
    assert reply.calls == (
        RequestedCall("look", '{"symbol":"AAPL"}', "toolu_1"),
        RequestedCall("look", "{}", "toolu_2"),
    )


async def test_a_block_may_have_all_of_itself_in_its_first_event(session: aiohttp.ClientSession) -> None:
    blocks: list[dict[str, Any]] = [
        {"type": "text", "text": "Let me look."},
        {"type": "tool_use", "id": "t1", "name": "look", "input": {"symbol": "AAPL"}},
    ]
    events = [{"type": "content_block_start", "index": at, "content_block": block} for at, block in enumerate(blocks)]
    raw = b"".join(b"data: " + orjson.dumps(one) + b"\n\n" for one in (*events, {"type": "message_stop"})).decode()
    heard = RecordingSink()
    async with scripted_model(default=ScriptedReply(raw=raw)) as server:
        reply = await provider(server, session).reply(PROMPT, heard)
    assert reply.text == "Let me look." == heard.said
    assert reply.calls == (RequestedCall("look", '{"symbol":"AAPL"}', "t1"),)


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (ScriptedReply(status=429, retry_after=3), ModelBusyError),
        (ScriptedReply(status=529), ModelDownError),
        (ScriptedReply(status=500), ModelDownError),
        (ScriptedReply(status=401), ModelRefusedError),
        (ScriptedReply(status=404), ModelRefusedError),
        (ScriptedReply(status=400), ModelRefusedError),
        (ScriptedReply(text="one two three", cut_after=1), ModelDownError),
        (ScriptedReply(text="one two", cut_after=9), ModelDownError),
        (ScriptedReply(text=""), ModelDownError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments='{"symbol": ')]), BadToolCallError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments="[1]")]), BadToolCallError),
        (ScriptedReply(tool_calls=[ScriptedCall(name="look")] * 17), BadToolCallError),
        (
            ScriptedReply(tool_calls=[ScriptedCall(name="look", arguments={"x": "x" * MAX_REPLY_CHARS})]),
            BadToolCallError,
        ),
    ],
    ids=[
        "429",
        "529",
        "500",
        "401",
        "404",
        "400",
        "cut",
        "no end",
        "empty",
        "malformed",
        "no object",
        "too many",
        "long",
    ],
)
async def test_each_failure_has_its_error(
    session: aiohttp.ClientSession, reply: ScriptedReply, error: type[ModelError]
) -> None:
    async with scripted_model(default=reply) as server:
        with pytest.raises(error) as caught:
            await provider(server, session).reply(PROMPT, RecordingSink())
    assert "key-for-tests" not in str(caught.value)
    assert not isinstance(caught.value, ModelBusyError) or caught.value.retry_after == 3


async def test_a_hanging_server_and_nobody_at_the_address_are_failures(session: aiohttp.ClientSession) -> None:
    async with scripted_model(default=ScriptedReply(hang=True)) as server:
        with pytest.raises(ModelDownError):
            await provider(server, session, silence=0.1).reply(PROMPT, RecordingSink())
        with pytest.raises(ModelDownError):
            await provider(server, session).reply(replace(PROMPT, time_limit=0.1), RecordingSink())
        gone = server.base_url
    with pytest.raises(ModelDownError, match="cannot be reached"):
        await Anthropic(ProviderEndpoint("anthropic", gone, None), session).reply(PROMPT, RecordingSink())


def test_the_request_speaks_anthropics_language() -> None:
    call = {"id": "call_0", "type": "function", "function": {"name": "look", "arguments": '{"n":1}'}}
    prompt = replace(
        PROMPT,
        tool_choice="none",
        messages=[
            {"role": "system", "content": "Be brief."},
            {"role": "assistant", "content": "Hello."},
            {"role": "user", "content": "look twice"},
            {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "call_1"}]},
            {"role": "tool", "tool_call_id": "call_0", "content": "one"},
            {"role": "tool", "tool_call_id": "call_1", "content": "two"},
            {"role": "system", "content": "Answer now."},
        ],
    )
    body = request_body(prompt)
    assert body["system"] == "Be brief."
    assert (body["temperature"], body["tool_choice"]) == (1.0, {"type": "none"})
    assert body["tools"] == [{"name": "look", "description": "Looks.", "input_schema": {"type": "object"}}]
    assert [message["role"] for message in body["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    assert [block["type"] for block in body["messages"][3]["content"]] == ["tool_use", "tool_use"]
    assert body["messages"][3]["content"][0] == {"type": "tool_use", "id": "call_0", "name": "look", "input": {"n": 1}}
    assert [block["type"] for block in body["messages"][4]["content"]] == ["tool_result", "tool_result", "text"]
    without = request_body(replace(prompt, tools=()))
    assert "tools" not in without
    assert all(block["type"] == "text" for message in without["messages"] for block in message["content"])


def test_how_words_are_drawn_is_told_as_far_as_anthropic_has_words_for_it() -> None:
    prompt = replace(PROMPT, sampling={"top_p": 0.5, "seed": 7}, parallel_calls=False)
    body = request_body(prompt)
    assert (body["top_p"], body["tool_choice"]) == (0.5, {"type": "auto", "disable_parallel_tool_use": True})
    assert not body.keys() & {"temperature", "seed"}
    assert request_body(replace(PROMPT, sampling={"seed": 7}))["temperature"] == 1.0
