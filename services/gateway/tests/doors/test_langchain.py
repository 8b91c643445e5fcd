"""LangChain's client for OpenAI, unchanged, at chat completions and at Responses."""

from typing import Any

import httpx
import openai
import pytest
from pydantic import BaseModel, SecretStr

from contracts.completion_rpc import CompletionCall
from gateway.testing.doors import AnsweringAgent
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import PLAIN
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker

WEATHER = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object"}}}


class Number(BaseModel):
    """A number."""

    n: int


def chat_model(gateway: GatewayUnderTest, key: str, **options: Any) -> Any:
    from langchain_openai import ChatOpenAI  # this takes seconds, which no other test needs

    http = httpx.AsyncClient(verify=PLAIN)
    url, secret = f"{gateway.url}/v1", SecretStr(key)
    return ChatOpenAI(model="nexus", base_url=url, api_key=secret, max_retries=0, http_async_client=http, **options)


async def test_it_streams_calls_tools_and_gets_a_shape(
    gateway: GatewayUnderTest, tokens: TokenMaker, completions: CompletionsStandIn
) -> None:
    model = chat_model(gateway, tokens.user("ana", "user"))
    answer = await model.ainvoke("hi")
    assert (answer.text, answer.usage_metadata["total_tokens"]) == ("One two.", 9)
    pieces = [piece async for piece in model.astream("hi", stream_usage=True)]
    assert [piece.text for piece in pieces if piece.text] == completions.texts
    with pytest.raises(openai.AuthenticationError):
        await chat_model(gateway, "forged").ainvoke("hi")

    text_end, texts = completions.end, completions.texts
    call = CompletionCall(id="call_1", name="get_weather", arguments='{"city": "Oslo"}')
    completions.texts = []
    completions.end = text_end.model_copy(update={"finish_reason": "tool_calls", "calls": [call]})
    called = await model.bind_tools([WEATHER]).ainvoke("weather?")
    (shown,) = called.tool_calls
    assert (shown["name"], shown["args"], shown["id"]) == ("get_weather", {"city": "Oslo"}, "call_1")
    completions.texts, completions.end = texts, text_end
    history = [("user", "weather?"), called, {"role": "tool", "tool_call_id": "call_1", "content": "Rain."}]
    assert (await model.ainvoke(history)).text == "One two."
    assert [(one.role, one.content) for one in completions.asked[-1].messages][-1] == ("tool", "Rain.")

    completions.texts = ['{"n": 3}']
    for method in ("json_schema", "json_mode"):
        shaped = model.with_structured_output(Number, method=method)
        assert await shaped.ainvoke("a number, as JSON") == Number(n=3)


@pytest.mark.usefixtures("memory")
async def test_it_continues_a_kept_response(
    gateway: GatewayUnderTest, tokens: TokenMaker, agent: AnsweringAgent
) -> None:
    model = chat_model(gateway, tokens.user("ana", "user"), use_responses_api=True, use_previous_response_id=True)
    first = await model.ainvoke("hello")
    assert (first.text, first.response_metadata["id"][:5]) == (agent.text, "resp_")
    history = [("user", "hello"), first, ("user", "more")]
    assert "".join([piece.text async for piece in model.astream(history)]) == agent.text
    assert [text for _, text in agent.received_messages] == ["hello", "more"]
    assert len({conversation for conversation, _ in agent.received_messages}) == 1
