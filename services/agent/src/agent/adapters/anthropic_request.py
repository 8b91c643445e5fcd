"""Converts a prompt in the format of the OpenAI chat API into a request of Anthropic's messages API.

The differences: the system prompt is outside the messages; tool calls and results are content blocks, and results
belong to the user; user and assistant strictly alternate, beginning with the user; the temperature is at most 1;
pictures are blocks with base64 content. Source: https://docs.anthropic.com/en/api/messages
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from agent.domain.pictures import pictures_of
from agent.ports import ModelRequest

EARLIER_MESSAGES_PLACEHOLDER = "…"
"""Placeholder for earlier messages, if the history begins with the company's side."""


def request_body(prompt: ModelRequest) -> dict[str, Any]:
    """Returns the JSON body of POST /messages."""
    system, messages = _converted(prompt.messages)
    body: dict[str, Any] = {
        "model": prompt.model,
        "max_tokens": prompt.max_tokens,
        "temperature": min(prompt.temperature, 1.0),
        "messages": messages,
        "stream": True,
    }
    if prompt.sampling is not None and "top_p" in prompt.sampling:
        # Only one of the two, because newer models refuse both together. The API has no seed and no penalties.
        del body["temperature"]
        body["top_p"] = prompt.sampling["top_p"]
    if system:
        body["system"] = system
    if prompt.stop:
        body["stop_sequences"] = list(prompt.stop)
    if prompt.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.parameters}
            for tool in prompt.tools
        ]
        body["tool_choice"] = _tool_choice(prompt)
    elif any(block["type"] == "tool_use" for message in messages for block in message["content"]):
        # Tool calls in the history are refused if no tool is listed, so they are converted to text.
        body["messages"] = [{**message, "content": _as_text(message["content"])} for message in messages]
    return body


def _tool_choice(prompt: ModelRequest) -> dict[str, Any]:
    if prompt.tool_choice == "none":
        return {"type": "none"}
    no_parallel_use = {} if prompt.parallel_calls else {"disable_parallel_tool_use": True}
    if prompt.tool_choice == "auto":
        return {"type": "auto", **no_parallel_use}
    return (
        {"type": "any", **no_parallel_use}
        if prompt.tool_name is None
        else {"type": "tool", "name": prompt.tool_name, **no_parallel_use}
    )


def _converted(messages: Sequence[Mapping[str, Any]]) -> tuple[str, list[dict[str, Any]]]:
    """Returns the system prompt, and the messages as lists of content blocks."""
    system: list[str] = []
    converted: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "system" and not converted:
            system.append(str(message["content"]))
            continue
        role = "assistant" if message["role"] == "assistant" else "user"
        blocks = _blocks(message)
        if not converted and role == "assistant":
            converted.append({"role": "user", "content": [{"type": "text", "text": EARLIER_MESSAGES_PLACEHOLDER}]})
        if converted and converted[-1]["role"] == role:
            converted[-1]["content"].extend(blocks)
        else:
            converted.append({"role": role, "content": blocks})
    return "\n\n".join(system), converted


def _blocks(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool":
        return [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": str(message["content"])}]
    blocks: list[dict[str, Any]] = []
    if message.get("content"):
        blocks.append({"type": "text", "text": str(message["content"])})
    for picture in pictures_of(message):
        source = {"type": "base64", "media_type": picture.type, "data": picture.content}
        blocks += [{"type": "text", "text": f"{picture.name}:"}, {"type": "image", "source": source}]
    for call in message.get("tool_calls") or ():
        function = call["function"]
        arguments = orjson.loads(function["arguments"] or "{}")
        blocks.append({"type": "tool_use", "id": call["id"], "name": function["name"], "input": arguments})
    return blocks


def _as_text(blocks: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [block if block["type"] == "image" else {"type": "text", "text": _text_of(block)} for block in blocks]


def _text_of(block: Mapping[str, Any]) -> str:
    match block["type"]:
        case "tool_use":
            return f"[{block['name']} {orjson.dumps(block['input']).decode()}]"
        case "tool_result":
            return f"[result] {block['content']}"
        case _:
            return str(block["text"])
