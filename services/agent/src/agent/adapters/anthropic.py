"""Anthropic's own messages API, streamed, with tools.

Wire format: https://docs.anthropic.com/en/api/messages-streaming (server-sent events); prompts are in the shapes of the
OpenAI chat API and are turned into Anthropic's (anthropic_request.py).
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp
import orjson
from yarl import URL

from agent.adapters.anthropic_request import request_body
from agent.adapters.openai_compatible import CONNECT_LIMIT, MAX_CALLS, MAX_LINE, MAX_TEXT, ProviderEndpoint
from agent.domain.turn.journal import ModelAnswer, RequestedCall, TokenCount
from agent.errors import (
    BadToolCallError,
    ModelBusyError,
    ModelDownError,
    ModelError,
    ModelRefusedError,
    ModelSilentError,
)
from agent.ports import Prompt, TextSink

VERSION = "2023-06-01"
_BUSY = frozenset({"rate_limit_error"})
_DOWN = frozenset({"overloaded_error", "api_error", "timeout_error"})


@dataclass(slots=True)
class _Block:
    """A content block of the reply that asks for a tool."""

    model_id: str
    name: str
    pieces: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _AnthropicStream:
    """What the stream has said so far."""

    text: list[str] = field(default_factory=list[str])
    length: int = 0
    blocks: dict[int, _Block] = field(default_factory=dict[int, _Block])
    prompt_tokens: int = 0
    completion_tokens: int = 0
    model: str = ""
    finished: bool = False
    cut: bool = False


class Anthropic:
    """One endpoint. Raises the errors of agent.errors; makes no second attempt of its own."""

    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        self._endpoint = endpoint
        self._session = session
        self._url = URL(f"{endpoint.base_url.rstrip('/')}/messages")
        self._timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_LIMIT, sock_read=endpoint.silence)
        self._headers = {
            "Content-Type": "application/json",
            "Accept": "text/event-stream",
            "anthropic-version": VERSION,
        }
        if endpoint.api_key:
            self._headers["x-api-key"] = endpoint.api_key

    @property
    def provider(self) -> str:
        """The provider's name in settings and answers."""
        return self._endpoint.provider

    async def reply(self, prompt: Prompt, sink: TextSink) -> ModelAnswer:
        """One streamed reply within the prompt's time limit.

        Raises:
            ModelBusyError, ModelDownError, ModelRefusedError, BadToolCallError.
        """
        try:
            async with asyncio.timeout(prompt.time_limit):
                return await self._stream(prompt, sink)
        except (TimeoutError, aiohttp.ServerTimeoutError) as error:
            raise ModelSilentError(f"{self.provider} said nothing in time") from error
        except (aiohttp.ClientError, ConnectionError) as error:
            # Not the error's own text: it can hold the request's address and headers.
            raise ModelDownError(f"{self.provider} cannot be reached ({type(error).__name__})") from error

    async def _stream(self, prompt: Prompt, sink: TextSink) -> ModelAnswer:
        async with self._session.post(
            self._url,
            data=orjson.dumps(request_body(prompt)),
            headers=self._headers,
            timeout=self._timeout,
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                raise _refusal(self.provider, response.status, response.headers, await response.content.read(16_384))
            reading = _AnthropicStream()
            await _read(reading, response.content, sink, self.provider)
        return _reply_of(reading, prompt.model, self.provider)


CLIENT = Anthropic
"""What speaks to the providers whose row names this module."""


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
                reading.blocks[int(event["index"])] = _Block(str(block["id"]), str(block["name"]))
                if len(reading.blocks) > MAX_CALLS:
                    raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
        case "message_start":
            message: dict[str, Any] = event["message"]
            reading.model = str(message.get("model") or "")
            _count(reading, message.get("usage"))
        case "message_delta":
            _count(reading, event.get("usage"))
            reading.cut = _object(event.get("delta")).get("stop_reason") == "max_tokens"
        case "message_stop":
            reading.finished = True
        case "error":
            raise _error(provider, str(_object(event.get("error")).get("type")), None)
        case _:
            pass  # ping, the ends of blocks, and what later versions add


def _read_delta(reading: _AnthropicStream, index: int, delta: dict[str, Any], sink: TextSink, provider: str) -> None:
    if delta.get("type") == "text_delta":
        piece = str(delta["text"])
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise ModelDownError(f"{provider} does not stop talking")
        reading.text.append(piece)
        if piece:
            sink.text(piece)
    elif delta.get("type") == "input_json_delta":
        piece = str(delta["partial_json"])
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise BadToolCallError(f"{provider} asked for a call without end")
        reading.blocks[index].pieces.append(piece)


def _count(reading: _AnthropicStream, usage: Any) -> None:
    """Anthropic's counts: what was read from or written to its cache is part of the prompt. The last word counts."""
    counts = _object(usage)
    parts = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    if counts.get("input_tokens") is not None:
        reading.prompt_tokens = sum(int(counts.get(part) or 0) for part in parts)
    if counts.get("output_tokens") is not None:
        reading.completion_tokens = int(counts["output_tokens"])


def _reply_of(reading: _AnthropicStream, model: str, provider: str) -> ModelAnswer:
    text = "".join(reading.text)
    calls = tuple(_requested(block) for _, block in sorted(reading.blocks.items()))
    if not text.strip() and not calls:
        raise ModelDownError(f"{provider} gave an empty reply")
    usage = TokenCount(reading.prompt_tokens, reading.completion_tokens)
    told = reading.model or model
    return ModelAnswer(text=text, calls=calls, usage=usage, model=told, provider=provider, cut=reading.cut)


def _requested(block: _Block) -> RequestedCall:
    text = "".join(block.pieces).strip() or "{}"
    try:
        arguments = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadToolCallError(f"the arguments for {block.name or 'a tool'} are no JSON") from error
    if not isinstance(arguments, dict) or not block.name:
        raise BadToolCallError("a tool call without a name, or with arguments that are no object")
    return RequestedCall(block.name, orjson.dumps(arguments).decode(), block.model_id)


def _refusal(provider: str, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """The error of an answer that is not 200; the body's text stays out of it, since it may quote the request."""
    try:
        kind = str(_object(_object(orjson.loads(body)).get("error")).get("type"))
    except orjson.JSONDecodeError:
        kind = "no type"
    if status == 429:
        kind = "rate_limit_error"
    elif status >= 500 or status == 408:
        kind = "api_error"
    return _error(provider, kind, headers.get("Retry-After"), status)


def _error(provider: str, kind: str, retry_after: str | None, status: int = 200) -> ModelError:
    if kind in _BUSY:
        return ModelBusyError(f"{provider} asks to slow down", _seconds(retry_after))
    if kind in _DOWN:
        return ModelDownError(f"{provider} failed ({kind}, {status})")
    return ModelRefusedError(f"{provider} refused the request: {status} ({kind}); check its key and model")


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(float(text), 0.0)
    except ValueError:
        return None
