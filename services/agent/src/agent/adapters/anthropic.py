"""Anthropic's own messages API, streamed, with tools.

Wire format: https://docs.anthropic.com/en/api/messages-streaming (server-sent events). Prompts have the format of the
OpenAI chat API and are converted by anthropic_request.py.
"""

from dataclasses import dataclass, field
from typing import Any

import aiohttp
import orjson

from agent.adapters.anthropic_request import request_body
from agent.adapters.known_models import KnownModel, Remedy, without
from agent.adapters.provider_client import (
    MAX_CALLS,
    MAX_LINE,
    MAX_TEXT,
    ProviderClient,
    ProviderEndpoint,
    StreamedCall,
    StreamedReply,
    text_in,
    tokens_in,
    whole_once_finished,
)
from agent.domain.turn.journal import ModelAnswer, TokenCount
from agent.errors import (
    BadToolCallError,
    ModelBusyError,
    ModelDeclinedError,
    ModelDownError,
    ModelError,
    ModelRefusedError,
)
from agent.ports import ModelRequest, TextSink
from contracts.json_values import object_of
from runtime.http.retry_after import seconds_in

VERSION = "2023-06-01"
_BUSY = frozenset({"rate_limit_error"})
_DOWN = frozenset({"overloaded_error", "api_error", "timeout_error"})


def _unforced(request: dict[str, Any]) -> None:
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        request["tool_choice"] = {"type": "auto"}


_REMEDIES = (
    # "`temperature` is deprecated for this model."
    *map(without, ("temperature", "top_p", "stop_sequences")),
    # Models that always think cannot be forced to call a tool.
    Remedy("tool_choice", _unforced),
)


@dataclass(slots=True)
class _AnthropicStream(StreamedReply):
    """The content that the stream has returned so far."""

    blocks: dict[int, StreamedCall] = field(default_factory=dict[int, StreamedCall])
    """Content blocks that ask for a tool."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Anthropic(ProviderClient):
    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        key = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        super().__init__(endpoint, session, "messages", {"anthropic-version": VERSION, **key}, _REMEDIES)

    def request(self, prompt: ModelRequest, known: KnownModel) -> dict[str, Any]:
        return request_body(prompt)

    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        reading = _AnthropicStream()
        with whole_once_finished(reading):
            await _read(reading, response.content, sink, self.provider)
        answer = ModelAnswer(
            text="".join(reading.text),
            calls=tuple(block.requested() for _, block in sorted(reading.blocks.items())),
            usage=TokenCount(reading.prompt_tokens, reading.completion_tokens),
            model=reading.model or prompt.model,
            provider=self.provider,
            cut=reading.cut,
        )
        return answer, reading.thought

    def refusal(self, status: int, retry_after: str | None, error: dict[str, Any]) -> ModelError:
        kind = str(error.get("type", "no type"))
        if status == 429:
            kind = "rate_limit_error"
        elif status >= 500 or status == 408:
            kind = "api_error"
        return _error(self.provider, kind, retry_after, status)


CLIENT = Anthropic
"""The client class for providers whose row names this module."""


async def _read(reading: _AnthropicStream, content: aiohttp.StreamReader, sink: TextSink, provider: str) -> None:
    rest = b""
    async for chunk in content.iter_any():
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if len(rest) > MAX_LINE:
            raise ModelDownError(f"{provider} sent a line without end")
        for line in lines:
            # Each event names its type in its data too, so the lines "event: …" say nothing new.
            if not line.startswith(b"data:"):
                continue
            try:
                _read_event(reading, orjson.loads(line[5:]), sink, provider)
            except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, ValueError) as error:
                raise ModelDownError(f"{provider} sent an event that cannot be read") from error
    if not reading.finished:
        raise ModelDownError(f"{provider} broke off in mid-answer")


def _read_event(reading: _AnthropicStream, event: dict[str, Any], sink: TextSink, provider: str) -> None:
    match event.get("type"):
        case "content_block_delta":
            _read_delta(reading, int(event["index"]), event["delta"], sink, provider)
        case "content_block_start":
            block: dict[str, Any] = event["content_block"]
            if block.get("type") == "tool_use":
                # Empty at Anthropic's, whose pieces follow; some proxies give all of it here, and no pieces.
                begun = orjson.dumps(block.get("input") or {}).decode()
                call = StreamedCall(text_in(block["id"]), text_in(block["name"]), begun)
                reading.blocks[int(event["index"])] = call
                if len(reading.blocks) > MAX_CALLS:
                    raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
            elif block.get("type") == "text" and block.get("text"):
                _read_text(reading, block, sink, provider)
            elif block.get("type") in ("thinking", "redacted_thinking"):
                reading.thought = True
        case "message_start":
            message: dict[str, Any] = event["message"]
            reading.model = str(message.get("model") or "")
            _count(reading, message.get("usage"))
        case "message_delta":
            _count(reading, event.get("usage"))
            reason = object_of(event.get("delta")).get("stop_reason")
            if reason == "refusal":
                raise ModelDeclinedError(f"{provider} withheld its answer")
            reading.cut = reason == "max_tokens"
        case "message_stop":
            reading.finished = True
        case "error":
            raise _error(provider, str(object_of(event.get("error")).get("type")), None)
        case _:
            pass  # ping, the ends of blocks, and what later versions add


def _read_delta(reading: _AnthropicStream, index: int, delta: dict[str, Any], sink: TextSink, provider: str) -> None:
    if delta.get("type") == "text_delta":
        _read_text(reading, delta, sink, provider)
    elif delta.get("type") == "input_json_delta":
        piece = text_in(delta["partial_json"])
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise BadToolCallError(f"{provider} asked for a call without end")
        reading.blocks[index].pieces.append(piece)


def _read_text(reading: _AnthropicStream, told: dict[str, Any], sink: TextSink, provider: str) -> None:
    piece = text_in(told["text"])
    reading.length += len(piece)
    if reading.length > MAX_TEXT:
        raise ModelDownError(f"{provider} does not stop talking")
    reading.text.append(piece)
    if piece:
        sink.text(piece)


def _count(reading: _AnthropicStream, usage: Any) -> None:
    """Anthropic's token counts. Tokens read from or written to its cache belong to the prompt. The last count is
    valid."""
    counts: dict[str, Any] = object_of(usage)
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if counts.get("input_tokens") is not None:
        reading.prompt_tokens = sum(tokens_in(counts.get(part)) for part in parts)
    if counts.get("output_tokens") is not None:
        reading.completion_tokens = tokens_in(counts["output_tokens"])


def _error(provider: str, kind: str, retry_after: str | None, status: int = 200) -> ModelError:
    if kind in _BUSY:
        return ModelBusyError(f"{provider} asks to slow down", seconds_in(retry_after))
    if kind in _DOWN:
        return ModelDownError(f"{provider} failed ({kind}, {status})")
    return ModelRefusedError(f"{provider} refused the request: {status} ({kind}); check its key and model")
