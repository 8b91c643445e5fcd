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
    MAX_LINE_BYTES,
    MAX_REPLY_CHARS,
    ProviderClient,
    ProviderEndpoint,
    StreamedCall,
    StreamedReply,
    ignore_errors_after_end,
    text_in,
    tokens_in,
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


def _do_not_force_tools(request: dict[str, Any]) -> None:
    if request.get("tool_choice", {}).get("type") in ("any", "tool"):
        request["tool_choice"] = {"type": "auto"}


_REMEDIES = (
    # "`temperature` is deprecated for this model."
    *map(without, ("temperature", "top_p", "stop_sequences")),
    # Models that always think cannot be forced to call a tool.
    Remedy("tool_choice", _do_not_force_tools),
)


@dataclass(slots=True)
class _AnthropicStream(StreamedReply):
    """The content of a reply that the stream has sent so far."""

    blocks: dict[int, StreamedCall] = field(default_factory=dict[int, StreamedCall])
    """The content blocks that are tool calls, by index."""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Anthropic(ProviderClient):
    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        auth_header = {"x-api-key": endpoint.api_key} if endpoint.api_key else {}
        super().__init__(endpoint, session, "messages", {"anthropic-version": VERSION, **auth_header}, _REMEDIES)

    def request(self, prompt: ModelRequest, known: KnownModel) -> dict[str, Any]:
        return request_body(prompt)

    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        stream = _AnthropicStream()
        with ignore_errors_after_end(stream):
            await _read(stream, response.content, sink, self.provider)
        answer = ModelAnswer(
            text="".join(stream.text),
            calls=tuple(block.requested() for _, block in sorted(stream.blocks.items())),
            usage=TokenCount(stream.prompt_tokens, stream.completion_tokens),
            model=stream.model or prompt.model,
            provider=self.provider,
            cut=stream.cut,
        )
        return answer, stream.thought

    def refusal(self, status: int, retry_after: str | None, error: dict[str, Any]) -> ModelError:
        kind = str(error.get("type", "no type"))
        if status == 429:
            kind = "rate_limit_error"
        elif status >= 500 or status == 408:
            kind = "api_error"
        return _error(self.provider, kind, retry_after, status)


CLIENT = Anthropic
"""The client class for providers whose row names this module."""


async def _read(stream: _AnthropicStream, content: aiohttp.StreamReader, sink: TextSink, provider: str) -> None:
    incomplete_line = b""
    async for chunk in content.iter_any():
        lines = (incomplete_line + chunk).split(b"\n")
        incomplete_line = lines.pop()
        if len(incomplete_line) > MAX_LINE_BYTES:
            raise ModelDownError(f"{provider} sent a line without end")
        for line in lines:
            # Each event repeats its type in its data, so the lines "event: …" can be skipped.
            if not line.startswith(b"data:"):
                continue
            try:
                _read_event(stream, orjson.loads(line[5:]), sink, provider)
            except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, ValueError) as error:
                raise ModelDownError(f"{provider} sent an event that cannot be read") from error
    if not stream.finished:
        raise ModelDownError(f"{provider} broke off in mid-answer")


def _read_event(stream: _AnthropicStream, event: dict[str, Any], sink: TextSink, provider: str) -> None:
    match event.get("type"):
        case "content_block_delta":
            _read_delta(stream, int(event["index"]), event["delta"], sink, provider)
        case "content_block_start":
            block: dict[str, Any] = event["content_block"]
            if block.get("type") == "tool_use":
                # Anthropic sends an empty object here, then pieces; some proxies send all arguments here.
                arguments = orjson.dumps(block.get("input") or {}).decode()
                call = StreamedCall(text_in(block["id"]), text_in(block["name"]), arguments)
                stream.blocks[int(event["index"])] = call
                if len(stream.blocks) > MAX_CALLS:
                    raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
            elif block.get("type") == "text" and block.get("text"):
                _read_text(stream, block, sink, provider)
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
                raise ModelDeclinedError(f"{provider} withheld its answer")
            stream.cut = reason == "max_tokens"
        case "message_stop":
            stream.finished = True
        case "error":
            raise _error(provider, str(object_of(event.get("error")).get("type")), None)
        case _:
            pass  # ping, the ends of blocks, and events of later versions


def _read_delta(stream: _AnthropicStream, index: int, delta: dict[str, Any], sink: TextSink, provider: str) -> None:
    if delta.get("type") == "text_delta":
        _read_text(stream, delta, sink, provider)
    elif delta.get("type") == "input_json_delta":
        piece = text_in(delta["partial_json"])
        stream.length += len(piece)
        if stream.length > MAX_REPLY_CHARS:
            raise BadToolCallError(f"{provider} asked for a call without end")
        stream.blocks[index].pieces.append(piece)


def _read_text(stream: _AnthropicStream, part: dict[str, Any], sink: TextSink, provider: str) -> None:
    piece = text_in(part["text"])
    stream.length += len(piece)
    if stream.length > MAX_REPLY_CHARS:
        raise ModelDownError(f"{provider} does not stop talking")
    stream.text.append(piece)
    if piece:
        sink.text(piece)


def _count(stream: _AnthropicStream, usage: Any) -> None:
    """Stores Anthropic's token counts; the last ones are valid. Tokens read from or written to its cache count as
    prompt tokens."""
    counts: dict[str, Any] = object_of(usage)
    fields = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if counts.get("input_tokens") is not None:
        stream.prompt_tokens = sum(tokens_in(counts.get(field_name)) for field_name in fields)
    if counts.get("output_tokens") is not None:
        stream.completion_tokens = tokens_in(counts["output_tokens"])


def _error(provider: str, kind: str, retry_after: str | None, status: int = 200) -> ModelError:
    if kind in _BUSY:
        return ModelBusyError(f"{provider} asks to slow down", seconds_in(retry_after))
    if kind in _DOWN:
        return ModelDownError(f"{provider} failed ({kind}, {status})")
    return ModelRefusedError(f"{provider} refused the request: {status} ({kind}); check its key and model")
