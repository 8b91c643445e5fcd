"""OpenAI's own SDK is the oracle of our reader: both read the same bytes, and must agree (decision 0005).

A stream is cut in two at every byte, and broken off behind every byte. The SDK reads it byte by byte, and broken off
behind each event: within an event there is nothing more to read.
"""

from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import cast

import aiohttp
import httpx2
import pytest
from openai import AsyncOpenAI, OpenAIError

from agent.adapters.openai_compatible import OpenAICompatible
from agent.adapters.provider_client import ProviderEndpoint
from agent.errors import ModelError
from agent.ports import ModelRequest
from agent.testing.heard import RecordingSink

Read = tuple[str, list[tuple[str, str, str]], tuple[int, int], bool]
"""Text, calls (id, name, arguments), tokens of prompt and reply, and whether the reply was cut at its limit."""

PROMPT = ModelRequest((), (), "none", model="m", temperature=0.0, max_tokens=1, time_limit=1.0)
HEAD = '"id":"c1","model":"m"'
TOKENS = '"usage":{"prompt_tokens":7,"completion_tokens":3,"total_tokens":10}'


def event(delta: str = "{}", finish: str = "null", more: str = "") -> bytes:
    choice = f'{{"index":0,"delta":{delta},"finish_reason":{finish}}}'
    return f'data: {{{HEAD},"choices":[{choice}]{more}}}\n\n'.encode()


def call(index: int, arguments: str, begin: str = "") -> str:
    return f'{{"tool_calls":[{{"index":{index},{begin}"function":{{{arguments}}}}}]}}'


USAGE = f'data: {{{HEAD},"choices":[],{TOKENS}}}\n\n'.encode()
DONE = b"data: [DONE]\n\n"
TEXT = [
    event('{"role":"assistant","content":""}'),
    event('{"content":"A caf\u00e9 "}'),
    event('{"content":"\U0001f600"}'),
]
BEGUN = '"id":"a","type":"function",', '"id":"b","type":"function",'
STREAMS = {
    "text, and its tokens": [*TEXT, event(finish='"stop"'), USAGE, DONE],
    "a reply at its limit": [*TEXT, event(finish='"length"'), DONE],
    "two calls in pieces": [
        event(call(0, '"name":"look","arguments":""', BEGUN[0])),
        event(call(0, '"arguments":"{\\"at\\":"')),
        event(call(0, '"arguments":"1}"')),
        event(call(1, '"name":"list","arguments":"{}"', BEGUN[1])),
        event(finish='"tool_calls"'),
        DONE,
    ],
    "Groq's tokens in the last event": [
        *TEXT,
        event(finish='"stop"', more=f',"x_groq":{{"id":"r"}},{TOKENS}'),
        DONE,
    ],
    "comments, names of events and carriage returns": [
        b": ping\n\n",
        *(one.replace(b"\n", b"\r\n") for one in TEXT),
        b"event: message\nid: 3\n" + event(finish='"stop"'),
        DONE,
    ],
    "no space behind the colon, and no last word": [*TEXT, event(finish='"stop"').replace(b"data: ", b"data:")],
    "an error in the middle": [*TEXT, b'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n', DONE],
    "an event that is no JSON": [*TEXT, b"data: {oh}\n\n", event(finish='"stop"'), DONE],
}


async def ours(*pieces: bytes) -> Read | None:
    """What our client reads; None: it reports a failure."""

    async def arriving() -> AsyncIterator[bytes]:
        for piece in pieces:
            yield piece

    content = SimpleNamespace(iter_any=arriving, at_eof=lambda: True)
    response = SimpleNamespace(content_type="text/event-stream", content=content)
    client = OpenAICompatible(ProviderEndpoint("test", "http://test", None), cast("aiohttp.ClientSession", None))
    try:
        answer, _ = await client.read(cast("aiohttp.ClientResponse", response), PROMPT, RecordingSink())
    except ModelError:
        return None
    calls = [(call.model_id, call.tool, call.arguments) for call in answer.calls]
    return answer.text, calls, (answer.usage.prompt, answer.usage.completion), answer.cut


async def theirs(client: Callable[[bytes], AsyncOpenAI], body: bytes) -> Read | None:
    """What the SDK reads; None: it raises, or the reply never ends."""
    text, calls, usage, finish = "", dict[int, list[str]](), (0, 0), None
    try:
        stream = await client(body).chat.completions.create(model="m", messages=[], stream=True)
        async for chunk in stream:
            if chunk.usage:
                usage = chunk.usage.prompt_tokens, chunk.usage.completion_tokens
            for choice in chunk.choices:
                text += choice.delta.content or ""
                finish = choice.finish_reason or finish
                for part in choice.delta.tool_calls or ():
                    known = calls.setdefault(part.index, ["", "", ""])
                    function = part.function
                    named = (part.id, function and function.name, function and function.arguments)
                    known[:] = [before + (more or "") for before, more in zip(known, named, strict=True)]
    except (OpenAIError, ValueError):
        return None
    if finish is None:
        return None
    return text, [(item[0], item[1], item[2]) for _, item in sorted(calls.items())], usage, finish == "length"


@pytest.fixture
async def sdk() -> AsyncIterator[Callable[[bytes], AsyncOpenAI]]:
    body = b""

    async def byte_by_byte() -> AsyncIterator[bytes]:
        for one in body:
            yield bytes((one,))

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=byte_by_byte())

    client = AsyncOpenAI(
        api_key="k", max_retries=0, http_client=httpx2.AsyncClient(transport=httpx2.MockTransport(answer))
    )

    def reading(next_body: bytes) -> AsyncOpenAI:
        nonlocal body
        body = next_body
        return client

    yield reading
    await client.close()


@pytest.mark.parametrize("name", STREAMS)
async def test_what_the_sdk_reads_is_read(name: str, sdk: Callable[[bytes], AsyncOpenAI]) -> None:
    events = STREAMS[name]
    body = b"".join(events)
    expected = await theirs(sdk, body)
    assert (expected is None) == (name in ("an error in the middle", "an event that is no JSON"))
    for cut in range(len(body)):
        assert await ours(body[:cut], body[cut:]) == expected, cut
    end, before = 0, await ours(b"")
    for position in range(1, len(events) + 1):
        begun, end = end, len(b"".join(events[:position]))
        after = await theirs(sdk, body[:end])
        for cut in range(begun + 1, end + 1):
            # An event whose last line end is missing is read by us, and not by the SDK.
            assert await ours(body[:cut]) in (before, after), cut
        assert await ours(body[:end]) == after, position
        before = after
