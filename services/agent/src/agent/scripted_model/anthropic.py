"""Serves the script in the format of Anthropic's messages API, streamed.

https://docs.anthropic.com/en/api/messages-streaming
"""

import asyncio
from typing import Any, cast

import orjson
from aiohttp import web

from agent.scripted_model.script import ScriptedReply

_ERROR_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}


def error_body(reply: ScriptedReply) -> dict[str, Any]:
    """Returns the body of the response with a status other than 200."""
    error_type = reply.error_code or _ERROR_TYPES.get(
        reply.status, "api_error" if reply.status >= 500 else "invalid_request_error"
    )
    return {"type": "error", "error": {"type": error_type, "message": "scripted failure"}}


async def stream(
    request: web.Request, response: web.StreamResponse, reply: ScriptedReply, record: dict[str, Any]
) -> None:
    """Streams the reply's events, or its failure (see script.ScriptedReply). `record`: the recorded request."""
    record["apiKey"], record["version"] = request.headers.get("x-api-key"), request.headers.get("anthropic-version")
    model = str(record.get("model", "scripted"))
    usage = {"input_tokens": reply.prompt_tokens, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": "scripted",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "usage": usage,
    }
    await response.write(_event("message_start", message=message) + _event("ping"))
    await reply.begin(record)
    if reply.raw is not None:
        await response.write(reply.raw.encode())
        return
    pieces = reply.pieces()
    if pieces:
        await response.write(_event("content_block_start", index=0, content_block={"type": "text", "text": ""}))
    for piece in pieces[: reply.cut_after]:
        delta = {"type": "text_delta", "text": piece}
        await response.write(_event("content_block_delta", index=0, delta=delta))
        if reply.token_ms:
            await asyncio.sleep(reply.token_ms / 1000)
    if reply.cut_after is not None:
        break_off(request)
        return
    if reply.garbled:
        await response.write(b'event: content_block_delta\ndata: {"type": "content_bl\n\n')
    if pieces:
        await response.write(_event("content_block_stop", index=0))
    for index, call in enumerate(reply.tool_calls, start=1 if pieces else 0):
        block: dict[str, Any] = {"type": "tool_use", "id": f"toolu_{index}", "name": call.name, "input": {}}
        await response.write(_event("content_block_start", index=index, content_block=block))
        for part in call.parts():
            delta = {"type": "input_json_delta", "partial_json": part}
            await response.write(_event("content_block_delta", index=index, delta=delta))
        await response.write(_event("content_block_stop", index=index))
    message_delta = {"stop_reason": "tool_use" if reply.tool_calls else "end_turn"}
    last_events = _event("message_delta", delta=message_delta, usage={"output_tokens": len(pieces)})
    await response.write(last_events + _event("message_stop"))
    await response.write_eof()


def break_off(request: web.Request) -> None:
    """Aborts the connection in the middle of the response."""
    if request.transport is not None:
        request.transport.abort()


def text_of(content: Any) -> str:
    """Returns the text of a message's content, which is a string or a list of blocks."""
    if isinstance(content, str):
        return content
    blocks = cast("list[dict[str, Any]]", content) if isinstance(content, list) else []
    return "\n".join(str(block.get("text", "")) for block in blocks if block.get("type") == "text")


def _event(event_type: str, **data: Any) -> bytes:
    return f"event: {event_type}\n".encode() + b"data: " + orjson.dumps({"type": event_type, **data}) + b"\n\n"
