"""Anthropic's own messages API, streamed, with tools.

Wire format: https://docs.anthropic.com/en/api/messages-streaming (server-sent events). Prompts have the format of the
OpenAI chat API and are converted by anthropic_request.py.
"""

from dataclasses import replace
from typing import Any

import aiohttp
import orjson

from agent.adapters.anthropic_request import request_body
from agent.adapters.known_models import KnownModel, Remedy, without
from agent.adapters.provider_client import (
    ProviderClient,
    ProviderEndpoint,
    StreamedCall,
    StreamedReply,
    ignore_errors_after_end,
    text_in,
    tokens_in,
)
from agent.domain.turn.journal import ModelAnswer
from agent.errors import ModelBusyError, ModelDeclinedError, ModelDownError, ModelError, ModelRefusedError
from agent.ports import ModelRequest, TextSink
from contracts.json_values import object_of
from runtime.http.retry_after import seconds_in

VERSION = "2023-06-01"
_BUSY = frozenset({"rate_limit_error"})
_DOWN = frozenset({"overloaded_error", "api_error", "timeout_error"})


def _do_not_force_tools(request: dict[str, Any]) -> None:
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        request["tool_choice"] = {"type": "auto"}


_REMEDIES = (
    # "`temperature` is deprecated for this model."
    *map(without, ("temperature", "top_p", "stop_sequences")),
    # Models that always think cannot be forced to call a tool.
    Remedy("tool_choice", _do_not_force_tools),
)


class Anthropic(ProviderClient):
    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        auth_header = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        super().__init__(endpoint, session, "messages", {"anthropic-version": VERSION, **auth_header}, _REMEDIES)

    def request(self, prompt: ModelRequest, known: KnownModel) -> dict[str, Any]:
        return request_body(prompt)

    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        stream = StreamedReply(self.provider, sink)
        with ignore_errors_after_end(stream):
            await _read(stream, response.content)
        return stream.answer(prompt.model), stream.thought

    def refusal(self, status: int, retry_after: str | None, error: dict[str, Any]) -> ModelError:
        kind = str(error.get("type", "no type"))
        if status == 429:
            kind = "rate_limit_error"
        elif status >= 500 or status == 408:
            kind = "api_error"
        return _error(self.provider, kind, retry_after, status)


CLIENT = Anthropic
"""The client class for providers whose row names this module."""


async def _read(stream: StreamedReply, content: aiohttp.StreamReader) -> None:
    async for chunk in content.iter_any():
        for line in stream.lines(chunk):
            # Each event repeats its type in its data, so the lines "event: …" can be skipped.
            if not line.startswith(b"data:"):
                continue
            try:
                _read_event(stream, orjson.loads(line[5:]))
            except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, ValueError) as error:
                raise ModelDownError(f"{stream.provider} sent an event that cannot be read") from error
    stream.require_end()


def _read_event(stream: StreamedReply, event: dict[str, Any]) -> None:
    match event.get("type"):
        case "content_block_delta":
            _read_delta(stream, int(event["index"]), event["delta"])
        case "content_block_start":
            block: dict[str, Any] = event["content_block"]
            if block.get("type") == "tool_use":
                # Anthropic sends an empty object here, then pieces; some proxies send all arguments here.
                arguments = orjson.dumps(block.get("input") or {}).decode()
                call = StreamedCall(text_in(block["id"]), text_in(block["name"]), arguments)
                stream.add_call(int(event["index"]), call)
            elif block.get("type") == "text" and block.get("text"):
                _read_text(stream, block)
            elif block.get("type") in ("thinking", "redacted_thinking"):
                stream.thought = True
        case "message_start":
            message: dict[str, Any] = event["message"]
            stream.model = str(message.get("model") or "")
            _count(stream, message.get("usage"))
        case "message_delta":
            _count(stream, event.get("usage"))
            reason = object_of(event.get("delta")).get("stop_reason")
            if reason == "refusal":
                raise ModelDeclinedError(f"{stream.provider} withheld its answer")
            stream.cut = reason == "max_tokens"
        case "message_stop":
            stream.finished = True
        case "error":
            raise _error(stream.provider, str(object_of(event.get("error")).get("type")), None)
        case _:
            pass  # ping, the ends of blocks, and events of later versions


def _read_delta(stream: StreamedReply, index: int, delta: dict[str, Any]) -> None:
    if delta.get("type") == "text_delta":
        _read_text(stream, delta)
    elif delta.get("type") == "input_json_delta":
        piece = text_in(delta["partial_json"])
        stream.count_arguments(piece)
        stream.calls[index].pieces.append(piece)


def _read_text(stream: StreamedReply, part: dict[str, Any]) -> None:
    piece = text_in(part["text"])
    stream.count_text(piece)
    stream.text.append(piece)
    if piece:
        stream.sink.text(piece)


def _count(stream: StreamedReply, usage: Any) -> None:
    """Stores Anthropic's token counts; the last ones are valid. Tokens read from or written to its cache count as
    prompt tokens."""
    counts: dict[str, Any] = object_of(usage)
    fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if counts.get("input_tokens") is not None:
        prompt_tokens = sum(tokens_in(counts.get(field_name)) for field_name in fields)
        stream.usage = replace(stream.usage, prompt=prompt_tokens)
    if counts.get("output_tokens") is not None:
        stream.usage = replace(stream.usage, completion=tokens_in(counts["output_tokens"]))


def _error(provider: str, kind: str, retry_after: str | None, status: int = 200) -> ModelError:
    if kind in _BUSY:
        return ModelBusyError(f"{provider} asks to slow down", seconds_in(retry_after))
    if kind in _DOWN:
        return ModelDownError(f"{provider} failed ({kind}, {status})")
    return ModelRefusedError(f"{provider} refused the request: {status} ({kind}); check its key and model")
