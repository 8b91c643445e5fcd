"""OpenAI's Responses API, for models that answer only through it or take tools only through it.

Requests of the chat API are converted to it, and its events are read here; the rest is in openai_compatible.py.
The provider stores nothing (`store` false), so reasoning goes back to it with the tool calls that it led to.
Wire format: https://platform.openai.com/docs/api-reference/responses-streaming (server-sent events).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from agent.adapters.provider_client import StreamedCall, StreamedReply, text_in, tokens_in
from agent.domain.thoughts import OpeningThoughts
from agent.domain.turn.journal import TokenCount
from agent.errors import ModelDeclinedError, ModelDownError
from contracts.json_values import object_of

MAX_THOUGHT_ITEMS = 64
"""Reasoning items of one reply that are kept for its tool calls."""
THOUGHT_ITEMS = "reasoning_items"
"""The field with these items in a message of the chat API, before it is converted."""
_TEXTS = frozenset({"response.output_text.delta", "response.refusal.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete"})
_UNCHANGED_FIELDS = ("model", "stream", "temperature", "top_p", "parallel_tool_calls")


@dataclass(slots=True)
class OpenAIStream(StreamedReply):
    """The content of a reply that a stream of either API has sent so far."""

    thoughts: OpeningThoughts = field(default_factory=OpeningThoughts)
    reasoning: list[str] = field(default_factory=list[str])
    """Reasoning that a server of the chat API demands back with the results of the tool calls."""
    items: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])
    """The same in the Responses API: encrypted items."""
    has_ended: bool = False
    """Whether the last event has come."""


def convert_to_response_request(request: dict[str, Any]) -> None:
    """Converts a request of the chat API in place to one of the Responses API; parameters unknown to it are dropped."""
    if "input" in request:
        return
    chat_request = dict(request)
    request.clear()
    request |= {name: chat_request[name] for name in _UNCHANGED_FIELDS if name in chat_request}
    request["input"] = [item for message in chat_request["messages"] for item in _items(message)]
    request["max_output_tokens"] = chat_request.get("max_completion_tokens") or chat_request.get("max_tokens")
    # Low effort: people wait for the first word, and reasoning and answer share the token limit.
    request |= {"reasoning": {"effort": "low"}, "store": False, "include": ["reasoning.encrypted_content"]}
    if "tools" in chat_request:
        request["tools"] = [_tool(tool) for tool in orjson.loads(orjson.dumps(chat_request["tools"]))]
        choice = chat_request["tool_choice"]
        is_named = isinstance(choice, dict)
        request["tool_choice"] = {"type": "function", "name": choice["function"]["name"]} if is_named else choice


def read_response_event(stream: OpenAIStream, event: dict[str, Any]) -> None:
    """Adds the content of one event to the stream."""
    kind = event["type"]
    if kind in _TEXTS:
        piece = text_in(event.get("delta"))
        stream.count_text(piece)
        stream.text.append(piece)
    elif kind == "response.output_item.done":
        _read_item(stream, int(event["output_index"]), object_of(event["item"]))
    elif kind in _ENDS:
        response: dict[str, Any] = object_of(event["response"])
        reason = object_of(response.get("incomplete_details")).get("reason")
        if reason == "content_filter":
            raise ModelDeclinedError(f"{stream.provider} withheld its answer")
        usage: dict[str, Any] = object_of(response.get("usage"))
        if object_of(usage.get("output_tokens_details")).get("reasoning_tokens"):
            stream.thought = True
        stream.usage = TokenCount(tokens_in(usage.get("input_tokens")), tokens_in(usage.get("output_tokens")))
        stream.model = text_in(response.get("model"))
        stream.finished, stream.has_ended, stream.cut = True, True, kind != "response.completed"
    elif kind in {"response.failed", "error"}:
        raise ModelDownError(f"{stream.provider} broke off with an error")


def _read_item(stream: OpenAIStream, index: int, item: dict[str, Any]) -> None:
    if item["type"] == "reasoning":
        stream.thought = True
        if len(stream.items) < MAX_THOUGHT_ITEMS:
            stream.items.append(item)
    elif item["type"] == "function_call":
        arguments = text_in(item["arguments"])
        stream.count_arguments(arguments)
        stream.add_call(index, StreamedCall(text_in(item["call_id"]), text_in(item["name"]), pieces=[arguments]))


def _items(message: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Returns a message of the chat API as items of the input."""
    if message["role"] == "tool":
        return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": message["content"]}]
    items: list[Mapping[str, Any]] = list(message.get(THOUGHT_ITEMS) or ())
    content = message.get("content")
    if content:
        parts = content if isinstance(content, str) else [_part(part) for part in content]
        items.append({"role": message["role"], "content": parts})
    calls = [(call["id"], call["function"]) for call in message.get("tool_calls") or ()]
    items += [
        {"type": "function_call", "call_id": call_id, "name": function["name"], "arguments": function["arguments"]}
        for call_id, function in calls
    ]
    return items


def _part(part: Mapping[str, Any]) -> Mapping[str, Any]:
    if part["type"] == "text":
        return {"type": "input_text", "text": part["text"]}
    return {"type": "input_image", "image_url": part["image_url"]["url"], "detail": "auto"}


def _tool(tool: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the tool in this API's format. It is not strict: a strict schema must require every argument."""
    return {"type": "function", **tool["function"], "strict": False}
