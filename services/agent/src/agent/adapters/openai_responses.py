"""OpenAI's Responses API, for models that answer over it alone or take tools over it alone.

A request of the chat API becomes one of this API, and its events are read here; the rest is openai_compatible.py.
Nothing is kept by the provider (`store` false), so thoughts go back with the calls that they led to.
Wire format: https://platform.openai.com/docs/api-reference/responses-streaming (server-sent events).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from agent.adapters.provider_client import MAX_CALLS, MAX_TEXT, StreamedCall, StreamedReply, text_in, tokens_in
from agent.domain.thoughts import OpeningThoughts
from agent.domain.turn.journal import TokenCount
from agent.errors import BadToolCallError, ModelDeclinedError, ModelDownError
from contracts.json_values import object_of

MAX_THOUGHTS = 64
"""Items of thoughts of one reply that are kept for its calls."""
THOUGHT_ITEMS = "reasoning_items"
"""The name of these in a message of the chat API, on their way into a request of this one."""
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete"})
_AS_THEY_ARE = ("model", "stream", "temperature", "top_p", "parallel_tool_calls")


@dataclass(slots=True)
class OpenAIStream(StreamedReply):
    """What a stream of either API has said."""

    thoughts: OpeningThoughts = field(default_factory=OpeningThoughts)
    calls: dict[int, StreamedCall] = field(default_factory=dict[int, StreamedCall])
    usage: TokenCount = field(default_factory=TokenCount)
    reasoning: list[str] = field(default_factory=list[str])
    """Thoughts that a server of the chat API demands back with the results of the calls."""
    items: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """The same in this API: encrypted."""
    over: bool = False
    """Whether its last event has come."""


def as_response(request: dict[str, Any]) -> None:
    """Makes a request of the chat API one of this API. What this one has no word for is left out."""
    if "input" in request:
        return
    chat = dict(request)
    request.clear()
    request |= {name: chat[name] for name in _AS_THEY_ARE if name in chat}
    request["input"] = [item for message in chat["messages"] for item in _items(message)]
    request["max_output_tokens"] = chat.get("max_completion_tokens") or chat.get("max_tokens")
    # People wait for the first word; and thoughts and answer share the limit of tokens.
    request |= {"reasoning": {"effort": "low"}, "store": False, "include": ["reasoning.encrypted_content"]}
    if "tools" in chat:
        request["tools"] = [_tool(one) for one in orjson.loads(orjson.dumps(chat["tools"]))]
        choice = chat["tool_choice"]
        named = isinstance(choice, dict)
        request["tool_choice"] = {"type": "function", "name": choice["function"]["name"]} if named else choice


def read_event(reading: OpenAIStream, event: dict[str, Any], provider: str) -> None:
    """Reads one event; its text is added to the stream's."""
    kind = event["type"]
    if kind in _TEXTS:
        piece = text_in(event.get("delta"))
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise ModelDownError(f"{provider} does not stop talking")
        reading.text.append(piece)
    elif kind == "response.output_item.done":
        _read_item(reading, int(event["output_index"]), object_of(event["item"]), provider)
    elif kind in _ENDS:
        response: dict[str, Any] = object_of(event["response"])
        reason = object_of(response.get("incomplete_details")).get("reason")
        if reason == "content_filter":
            raise ModelDeclinedError(f"{provider} withheld its answer")
        usage: dict[str, Any] = object_of(response.get("usage"))
        if object_of(usage.get("output_tokens_details")).get("reasoning_tokens"):
            reading.thought = True
        reading.usage = TokenCount(tokens_in(usage.get("input_tokens")), tokens_in(usage.get("output_tokens")))
        reading.model = text_in(response.get("model"))
        reading.finished, reading.over, reading.cut = True, True, kind != "response.completed"
    elif kind in {"response.failed", "error"}:
        raise ModelDownError(f"{provider} broke off with an error")


def _read_item(reading: OpenAIStream, index: int, item: dict[str, Any], provider: str) -> None:
    if item["type"] == "reasoning":
        reading.thought = True
        if len(reading.items) < MAX_THOUGHTS:
            reading.items.append(item)
    elif item["type"] == "function_call":
        if len(reading.calls) >= MAX_CALLS:
            raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
        arguments = text_in(item["arguments"])
        reading.length += len(arguments)
        if reading.length > MAX_TEXT:
            raise BadToolCallError(f"{provider} asked for a call without end")
        reading.calls[index] = StreamedCall(text_in(item["call_id"]), text_in(item["name"]), pieces=[arguments])


def _items(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """A message of the chat API as items of the input."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    items: list[Mapping[str, Any]] = list(message.get(THOUGHT_ITEMS) or ())
    content = message.get("content")
    if content:
        parts = content if isinstance(content, str) else [_part(one) for one in content]
        items.append({"role": message["role"], "content": parts})
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    items += [
        {"type": "function_call", "call_id": identity, "name": function["name"], "arguments": function["arguments"]}
        for identity, function in calls
    ]
    return items


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Not strict: a strict schema would have to name every argument as required."""
    return {"type": "function", **tool["function"], "strict": False}
