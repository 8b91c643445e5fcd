"""The public compliance cases of Open Responses (openresponses.org, which has them in its repository alone), all seven:
the same requests, and what is asked of their answers.
"""

import json
from typing import Any

import httpx
import pytest

from contracts.completion_rpc import CompletionCall, CompletionEnd
from contracts.events.chat import Usage
from gateway.testing.doors import REQUIRED_OF_A_RESPONSE, AnsweringAgent
from gateway.testing.harness import GatewayUnderTest
from gateway.testing.http import PLAIN
from gateway.testing.services import CompletionsStandIn
from gateway.testing.tokens import TokenMaker

pytestmark = pytest.mark.usefixtures("memory")
Json = dict[str, Any]


def said(role: str, text: str) -> Json:
    return {"type": "message", "role": role, "content": text}


PIXEL = "data:image/png;base64," + (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {
        "type": "object",
        "properties": {"location": {"type": "string", "description": "The city and state, e.g. San Francisco, CA"}},
        "required": ["location"],
    },
}
ASKED = {"input": [said("user", "What's the weather like in San Francisco?")], "tools": [WEATHER]}
CASES: dict[str, Json] = {
    "basic-response": {"input": [said("user", "Say hello in exactly 3 words.")]},
    "streaming-response": {"input": [said("user", "Count from 1 to 5.")], "stream": True},
    "system-prompt": {
        "input": [said("system", "You are a pirate. Always respond in pirate speak."), said("user", "Say hello.")]
    },
    "tool-calling": ASKED,
    "tool-calling-streaming": {**ASKED, "stream": True},
    "image-input": {
        "input": [
            {
                "type": "message",
                "role": "user",
                "content": [
                    {"type": "input_text", "text": "What do you see in this image? Answer in one sentence."},
                    {"type": "input_image", "image_url": PIXEL},
                ],
            }
        ]
    },
    "multi-turn": {
        "input": [
            said("user", "My name is Alice."),
            said("assistant", "Hello Alice! Nice to meet you. How can I help you today?"),
            said("user", "What is my name?"),
        ]
    },
}


@pytest.mark.parametrize("case", CASES)
async def test_the_published_cases_are_answered(
    gateway: GatewayUnderTest,
    tokens: TokenMaker,
    agent: AnsweringAgent,
    completions: CompletionsStandIn,
    case: str,
) -> None:
    del agent
    body, tools = CASES[case], "tools" in CASES[case]
    calls = (
        [CompletionCall(id="c1", name="get_weather", arguments='{"location": "San Francisco, CA"}')] if tools else []
    )
    usage = Usage(prompt_tokens=7, completion_tokens=2)
    completions.texts = [] if tools else ["Hello there, you."]
    reason = "tool_calls" if tools else "stop"
    completions.end = CompletionEnd(finish_reason=reason, model="scripted", usage=usage, calls=calls)
    headers = {"Authorization": f"Bearer {tokens.user('ana', 'user')}"}
    async with httpx.AsyncClient(verify=PLAIN, headers=headers, timeout=20) as http:
        answer = await http.post(f"{gateway.url}/v1/responses", json={"model": "nexus", "stream": False, **body})
    assert answer.status_code == 200, answer.text
    if not body.get("stream"):
        response = answer.json()
    else:
        events = told(answer.text)
        response = events[-1]["response"]
        numbers = [event["sequence_number"] for event in events]
        assert numbers == sorted(set(numbers))
        kinds = {event["type"] for event in events}
        wanted = {"response.created", "response.output_item.added", "response.output_item.done", "response.completed"}
        wanted |= (
            {f"response.function_call_arguments.{end}" for end in ("delta", "done")}
            if tools
            else {f"response.output_text.{end}" for end in ("delta", "done")}
        )
        assert wanted <= kinds
    assert response.keys() >= REQUIRED_OF_A_RESPONSE
    assert (response["object"], response["status"]) == ("response", "completed")
    if case == "image-input":
        (asked,) = completions.asked
        assert [one.type for one in asked.messages[-1].pictures or ()] == ["image/png"]
    assert ("function_call" if tools else "message") in [item["type"] for item in response["output"]]


def told(text: str) -> list[Json]:
    """The events of a stream, each with the name of its type; the last one is the literal [DONE]."""
    events: list[Json] = []
    *blocks, done = text.strip().split("\n\n")
    assert done == "data: [DONE]"
    for block in blocks:
        name, data = block.split("\n")
        events.append(json.loads(data.removeprefix("data: ")))
        assert name == f"event: {events[-1]['type']}"
    return events
