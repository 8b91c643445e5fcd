"""/v1 with OpenAI's own client, with a stand-in for the agents behind the door."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, cast

import openai
import pytest
from openai import AsyncOpenAI
from pydantic import BaseModel

from contracts.completion_rpc import CompletionCall, CompletionEnd
from contracts.events.chat import Action, ActionState, Usage
from gateway.adapters.completions import MAX_CONCURRENT
from gateway.domain.budget_windows import seconds_left
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import Http
from gateway.testing.openai import openai_client
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker
from runtime.errors import RpcError
from runtime.testing.servers import eventually

HI: list[Any] = [{"role": "user", "content": "hi"}]
USAGE = Usage(prompt_tokens=7, completion_tokens=2)
WEATHER: dict[str, Any] = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


class Number(BaseModel):
    """What is asked for where an answer must have a shape."""

    n: int


@pytest.fixture
async def client(gateway: GatewayUnderTest, tokens: TokenMaker) -> AsyncIterator[AsyncOpenAI]:
    """The official client, with a customer's token as its key; it does not try again by itself."""
    key = tokens.user("ana", "user")
    async with openai_client(gateway.url, key, timeout=40) as made:
        yield made


async def test_an_answer_in_one_piece(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    answer = await client.chat.completions.create(
        model="nexus",
        messages=[
            {"role": "developer", "content": "Rhyme."},
            {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]},
        ],
        temperature=0.5,
        max_completion_tokens=9000,
        stop="END",
        seed=1,
        user="somebody",
    )
    (choice,) = answer.choices
    assert (choice.message.content, choice.finish_reason, answer.model) == ("One two.", "stop", "scripted")
    assert answer.usage is not None
    assert answer.usage.total_tokens == 9
    (asked,) = completions.asked
    assert [(m.role, m.content) for m in asked.messages] == [("system", "Rhyme."), ("user", "one\ntwo")]
    assert (asked.temperature, asked.max_tokens, asked.stop, asked.stream) == (0.5, 8192, ["END"], False)
    assert (asked.company_id, asked.door, answer.id) == ("acme", "completions", f"chatcmpl-{asked.request_id}")


async def test_an_answer_as_it_comes(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    stream = await client.chat.completions.create(
        model="nexus", messages=HI, stream=True, stream_options={"include_usage": True}
    )
    chunks = [chunk async for chunk in stream]
    texts = [chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices]
    assert "".join(texts) == "One two."
    assert [chunk.choices[0].finish_reason for chunk in chunks if chunk.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage is not None
    assert chunks[-1].usage.prompt_tokens == 7
    assert {chunk.model for chunk in chunks[-2:]} == {"scripted"}
    assert completions.asked[0].stream


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_of_a_wanted_shape_is_checked_and_asked_for_once_more(
    client: AsyncOpenAI, completions: CompletionsStandIn, stream: bool
) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    form: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    asked: Any = {"model": "nexus", "messages": [{"role": "user", "content": "a number"}], "response_format": form}

    async def said() -> str:
        made: Any = await client.chat.completions.create(**asked, stream=stream)
        if not stream:
            return made.choices[0].message.content
        return "".join([chunk.choices[0].delta.content or "" async for chunk in made if chunk.choices])

    completions.texts = ['{"n":', " 1}"]
    assert json.loads(await said()) == {"n": 1}
    assert '"integer"' in completions.asked[0].messages[-1].content
    completions.texts, completions.asked = ["not that"], []
    # Not a 5xx, which every client repeats.
    with pytest.raises(openai.APIError if stream else openai.BadRequestError, match="the wanted shape"):
        await said()
    assert len(completions.asked) == 2
    assert "That does not fit" in completions.asked[1].messages[-1].content
    # What it did at first, it does not again.
    assert [(one.structured, one.tool_choice) for one in completions.asked] == [(True, "auto"), (True, "none")]
    completions.corrected = ['{"n": 3}']
    asked["stream_options"] = {"include_usage": True} if stream else openai.omit
    made: Any = await client.chat.completions.create(**asked, stream=stream)
    end = [chunk async for chunk in made][-1] if stream else made
    assert (end.usage.prompt_tokens, end.usage.completion_tokens) == (14, 4)  # both attempts are paid
    completions.texts = ['```json\n{"n": 2}\n```']
    assert json.loads(await said()) == {"n": 2}
    completions.texts, completions.asked = ['{"n":'], []
    completions.end = completions.end.model_copy(update={"finish_reason": "length"})
    assert (await said(), len(completions.asked)) == ('{"n":', 1)
    with pytest.raises(openai.LengthFinishReasonError):
        await client.chat.completions.parse(model="nexus", messages=HI, response_format=Number)


async def test_a_schema_whose_check_would_not_end_is_refused_before_the_model_is_asked(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    # Each level asks for the next one twice: what it takes doubles with each.
    levels: Any = {f"a{n}": {"allOf": [{"$ref": f"#/$defs/a{n + 1}"}] * 2} for n in range(60)}
    schema = {"$ref": "#/$defs/a0", "$defs": {**levels, "a60": {"type": "string"}}}
    form: Any = {"type": "json_schema", "json_schema": {"name": "n", "schema": schema}}
    with pytest.raises(openai.BadRequestError, match="fewer of them"):
        await client.chat.completions.create(model="nexus", messages=HI, response_format=form)
    assert completions.asked == []


async def test_calls_of_the_callers_own_tools_come_back_and_their_results_go_in(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    completions.texts = []
    call = CompletionCall(id="c1", name="get_weather", arguments='{"city":"Lima"}')
    completions.end = CompletionEnd(finish_reason="tool_calls", model="scripted", usage=USAGE, calls=[call])
    answer = await client.chat.completions.create(model="nexus", messages=HI, tools=cast("Any", [WEATHER]))
    message = answer.choices[0].message
    assert (message.content, answer.choices[0].finish_reason) == (None, "tool_calls")
    assert message.tool_calls is not None
    history: list[Any] = [*HI, message.model_dump(exclude_none=True)]
    history.append({"role": "tool", "tool_call_id": "c1", "content": "sunny"})
    async with client.chat.completions.stream(model="nexus", messages=history, tools=cast("Any", [WEATHER])) as stream:
        final = await stream.get_final_completion()
    called = final.choices[0].message.tool_calls
    assert called is not None
    assert (called[0].id, called[0].function.arguments) == ("c1", '{"city":"Lima"}')
    said = completions.asked[1].messages
    assert [(m.role, m.call_id, len(m.calls)) for m in said] == [
        ("user", None, 0),
        ("assistant", None, 1),
        ("tool", "c1", 0),
    ]
    assert completions.asked[0].tools[0].name == "get_weather"


async def test_an_order_that_waits_is_told_beside_the_text(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    waiting = Action(
        id="a1",
        kind="paper_order",
        state=ActionState.PENDING,
        summary="Buy",
        expires_at=datetime(2030, 1, 1, tzinfo=UTC),
    )
    completions.end = CompletionEnd(finish_reason="stop", model="scripted", usage=USAGE, actions=[waiting])
    answer = await client.chat.completions.create(model="nexus", messages=HI)
    assert (answer.model_extra or {})["pending_actions"][0]["id"] == "a1"
    stream = await client.chat.completions.create(model="nexus", messages=HI, stream=True)
    extras = [(chunk.model_extra or {}).get("pending_actions") for chunk in [chunk async for chunk in stream]]
    assert [extra[0]["state"] for extra in extras if extra] == ["pending"]


async def test_the_models_can_be_listed_and_looked_up(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    assert [model.id async for model in client.models.list()] == ["nexus", "org/model-1"]
    assert (await client.models.retrieve("org/model-1")).owned_by == "groq"
    with pytest.raises(openai.NotFoundError) as caught:
        await client.models.retrieve("other")
    assert (caught.value.code, caught.value.param) == ("model_not_found", "model")


@pytest.mark.parametrize(
    ("error", "kind", "code"),
    [
        (RpcError("NOT_FOUND", "no", reason="model"), openai.NotFoundError, "model_not_found"),
        (
            RpcError("BAD_FIELD", "x", reason="context_length_exceeded"),
            openai.BadRequestError,
            "context_length_exceeded",
        ),
        (RpcError("RATE_LIMITED", "spent", reason="day"), openai.RateLimitError, "insufficient_quota"),
        (RpcError("UNAVAILABLE", "down", retryable=True), openai.InternalServerError, "unavailable"),
        (RpcError("TIMEOUT", "late"), openai.InternalServerError, "timeout"),
    ],
)
@pytest.mark.parametrize("stream", [False, True])
async def test_an_error_before_the_first_word_is_an_exception_of_the_client(
    client: AsyncOpenAI,
    completions: CompletionsStandIn,
    error: RpcError,
    kind: type[openai.APIStatusError],
    code: str,
    stream: bool,
) -> None:
    completions.texts, completions.error = [], error
    with pytest.raises(kind) as caught:
        await client.chat.completions.create(model="nexus", messages=HI, stream=stream)
    assert caught.value.code == code
    if code == "context_length_exceeded":
        assert (caught.value.status_code, caught.value.param) == (400, "messages")
    if code == "insufficient_quota":
        headers = caught.value.response.headers
        assert headers["x-should-retry"] == "false"
        assert abs(int(headers["retry-after"]) - seconds_left("day", datetime.now(UTC))) < 30


async def test_an_error_in_mid_answer_ends_the_stream_as_an_error(
    client: AsyncOpenAI, completions: CompletionsStandIn
) -> None:
    completions.error = RpcError("UNAVAILABLE", "broke off", retryable=True)
    stream = await client.chat.completions.create(model="nexus", messages=HI, stream=True)
    heard: list[str] = []
    with pytest.raises(openai.APIError) as caught:
        await _hear(stream, heard)
    assert "".join(heard) == "One two."
    assert caught.value.code == "unavailable"


async def _hear(stream: Any, heard: list[str]) -> None:
    async for chunk in stream:
        heard.append(chunk.choices[0].delta.content or "")


async def test_a_stream_that_thinks_for_long_begins_all_the_same(
    client: AsyncOpenAI, completions: CompletionsStandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gateway.doors.completions.parts.FIRST_PIECE_SECONDS", 0.05)
    monkeypatch.setattr("gateway.web.keepalive.PAUSE_SECONDS", 0.05)
    completions.hold = asyncio.Event()
    stream = await client.chat.completions.create(model="nexus", messages=HI, stream=True)
    first = await anext(stream)
    assert first.choices[0].delta.role == "assistant"
    completions.hold.set()
    heard: list[str] = []
    await _hear(stream, heard)
    assert "".join(heard) == "One two."


@pytest.mark.parametrize("stream", [False, True])
async def test_the_work_ends_when_the_caller_hangs_up(
    client: AsyncOpenAI, completions: CompletionsStandIn, monkeypatch: pytest.MonkeyPatch, stream: bool
) -> None:
    monkeypatch.setattr("gateway.doors.completions.parts.FIRST_PIECE_SECONDS", 0.05)
    completions.hold = asyncio.Event()
    if stream:
        answer = await client.chat.completions.create(model="nexus", messages=HI, stream=True)
        await anext(answer)
        await answer.close()
    else:
        asking = asyncio.create_task(client.chat.completions.create(model="nexus", messages=HI))
        await eventually(lambda: _asked(completions, 1))
        asking.cancel()

    async def given_up() -> bool:
        return completions.given_up == 1

    await eventually(given_up)


async def _asked(completions: CompletionsStandIn, count: int) -> bool:
    return len(completions.asked) == count


async def test_one_caller_has_so_many_at_a_time_and_others_have_theirs(
    client: AsyncOpenAI, gateway: GatewayUnderTest, completions: CompletionsStandIn, tokens: TokenMaker
) -> None:
    completions.hold = asyncio.Event()
    ask = client.chat.completions.create
    running = [asyncio.create_task(ask(model="nexus", messages=HI)) for _ in range(MAX_CONCURRENT)]
    await eventually(lambda: _asked(completions, MAX_CONCURRENT))
    with pytest.raises(openai.RateLimitError) as caught:
        await ask(model="nexus", messages=HI)
    assert caught.value.code == "rate_limit_exceeded"
    other = client.with_options(api_key=tokens.user("eva", "service"))
    asking = asyncio.create_task(other.chat.completions.create(model="nexus", messages=HI))
    await eventually(lambda: _asked(completions, MAX_CONCURRENT + 1))
    completions.hold.set()
    assert len(await asyncio.gather(asking, *running)) == MAX_CONCURRENT + 1


async def test_a_customer_says_as_much_as_over_the_websocket_and_results_of_tools_come_on_top(
    client: AsyncOpenAI, gateway: GatewayUnderTest, completions: CompletionsStandIn
) -> None:
    limits = gateway.gateway.chat.limits
    for _ in range(limits.settings.messages_per_visitor):
        limits.count_message("acme/ana", "127.0.0.1", opens_conversation=False)
    with pytest.raises(openai.RateLimitError, match="too many messages") as caught:
        await client.chat.completions.create(model="nexus", messages=HI)
    assert 0 < int(caught.value.response.headers["Retry-After"]) <= 60
    with pytest.raises(openai.RateLimitError, match="too many messages"):
        await client.responses.create(model="nexus", input="hi", store=False)
    call = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": "{}"}}
    asked: Any = {"role": "assistant", "tool_calls": [call]}
    result: Any = {"role": "tool", "tool_call_id": "c1", "content": "sunny"}
    for form in ({"type": "text"}, {"type": "json_object"}):
        completions.texts = ["{}"]
        said: Any = {"messages": [*HI, asked, result], "response_format": form}
        assert await client.chat.completions.create(model="nexus", **said)


async def test_nothing_said_is_refused_by_name(client: AsyncOpenAI, completions: CompletionsStandIn) -> None:
    for blank in ("", " \n", [{"type": "text", "text": ""}]):
        said: Any = [*HI, {"role": "assistant", "content": "hello"}, {"role": "user", "content": blank}]
        with pytest.raises(openai.BadRequestError, match=r"messages\[2\].content: write something"):
            await client.chat.completions.create(model="nexus", messages=said)
    with pytest.raises(openai.BadRequestError, match="write something"):
        await client.responses.create(model="nexus", input=" ", store=False)
    assert not completions.asked


async def test_who_may_not_is_told_as_the_client_expects(client: AsyncOpenAI, tokens: TokenMaker) -> None:
    with pytest.raises(openai.AuthenticationError) as unknown:
        await client.with_options(api_key="nonsense").models.list()
    assert unknown.value.code == "invalid_api_key"
    for token in (tokens.visitor("v1"), tokens.user("eva", "admin"), tokens.user("eva", "commercial")):
        with pytest.raises(openai.PermissionDeniedError):
            await client.with_options(api_key=token).chat.completions.create(model="nexus", messages=HI)


async def test_with_no_agent_there_it_says_so(client: AsyncOpenAI, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("runtime.calls.streamed_calls.OPEN_TIMEOUT", 1.0)
    with pytest.raises(openai.InternalServerError) as caught:
        await client.chat.completions.create(model="nexus", messages=HI)
    assert caught.value.status_code == 503


async def test_a_body_that_is_too_large_or_none_is_told_in_the_same_shape(http: Http, tokens: TokenMaker) -> None:
    key, path = tokens.user("ana", "user"), "/v1/chat/completions"
    long = {"model": "nexus", "messages": [{"role": "user", "content": "x" * 800_000}]}
    for sent, status in (({"json": long}, 413), ({"data": b"x" * 1_100_000}, 413), ({"data": b"{"}, 400)):
        answer = await http("POST", path, token=key, headers={"Content-Type": "application/json"}, **sent)
        assert (answer[0], answer[1]["error"]["type"]) == (status, "invalid_request_error")
    assert (await http("GET", "/v1/nothing"))[1]["error"]["code"] == "not_found"


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v2/llm/improve", "/v2/tools/get_price"])
@pytest.mark.parametrize("body", [b"{", b"\xff\xfe", b"[]"])
async def test_who_a_caller_is_comes_before_what_they_send(http: Http, path: str, body: bytes) -> None:
    headers = {"Content-Type": "application/json"}
    assert (await http("POST", path, headers=headers, data=body))[0] == 401
    assert (await http("POST", path, headers=headers, data=body, token="nonsense"))[0] == 401
