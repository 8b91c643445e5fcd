"""Any server that speaks the OpenAI chat API, streamed: OpenAI, Groq, Anthropic's compatible endpoint, local ones.

The stream is read with aiohttp and orjson, not with an SDK: its models for each chunk cost more than the whole rest of
a turn. Wire format: https://platform.openai.com/docs/api-reference/chat-streaming (server-sent events).
"""

import asyncio
import contextlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import aiohttp
import orjson
from yarl import URL

from agent.domain.pictures import pictures_of
from agent.domain.thoughts import OpeningThoughts
from agent.domain.turn.journal import ModelAnswer, RequestedCall, TokenCount
from agent.errors import BadToolCallError, ModelBusyError, ModelDownError, ModelRefusedError, ModelSilentError
from agent.ports import Prompt, TextSink

CONNECT_LIMIT = 5.0
"""Seconds to connect."""
LINGER = 0.05
"""Seconds to wait for the end of a response whose last event has come."""
MAX_LINE = 1024 * 1024
"""Bytes of one line of the stream; a server that never ends one is cut off."""
MAX_TEXT = 64 * 1024
"""Characters of one reply."""
MAX_CALLS = 16
"""Tool calls in one reply; more are a malfunction."""
_TOOL_FAILURES = frozenset({"tool_use_failed", "invalid_tool_call"})


@dataclass(frozen=True)
class ProviderEndpoint:
    """Where a provider is. `silence`: seconds without a byte after which the call is given up."""

    provider: str
    base_url: str
    api_key: str | None = field(repr=False)
    silence: float = 30.0


@dataclass(slots=True)
class _Call:
    model_id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list[str])


@dataclass(slots=True)
class _CompatibleStream:
    """What the stream has said so far."""

    text: list[str] = field(default_factory=list[str])
    thoughts: OpeningThoughts = field(default_factory=OpeningThoughts)
    length: int = 0
    calls: dict[int, _Call] = field(default_factory=dict[int, _Call])
    usage: TokenCount = field(default_factory=TokenCount)
    model: str = ""
    finished: bool = False
    cut: bool = False


class OpenAICompatible:
    """One endpoint. Raises the errors of agent.errors; makes no second attempt of its own."""

    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        self._endpoint = endpoint
        self._session = session
        self._url = URL(f"{endpoint.base_url.rstrip('/')}/chat/completions")
        # The whole reply's limit is the caller's; a second one here would be one more timer for each call.
        self._timeout = aiohttp.ClientTimeout(total=None, connect=CONNECT_LIMIT, sock_read=endpoint.silence)
        self._headers = {"Content-Type": "application/json", "Accept": "text/event-stream"}
        if endpoint.api_key:
            self._headers["Authorization"] = f"Bearer {endpoint.api_key}"

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
            data=orjson.dumps(self._request(prompt)),
            headers=self._headers,
            timeout=self._timeout,
            allow_redirects=False,
        ) as response:
            if response.status != 200:
                raise _refusal(self.provider, response.status, response.headers, await response.content.read(16_384))
            reading = _CompatibleStream()
            if response.content_type == "application/json":
                _read_whole(reading, await _body(response.content, self.provider), sink)
            else:
                await _read_stream(reading, response.content, sink, self.provider)
        return _reply_of(reading, prompt.model, self.provider)

    def _request(self, prompt: Prompt) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": prompt.model,
            "messages": list(map(_shaped, prompt.messages)),
            "temperature": prompt.temperature,
            "max_tokens": prompt.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            **(prompt.sampling or {}),
        }
        if prompt.tools:
            request["tools"] = [
                {
                    "type": "function",
                    "function": {"name": t.name, "description": t.description, "parameters": t.parameters},
                }
                for t in prompt.tools
            ]
            request["tool_choice"] = prompt.tool_choice
            if not prompt.parallel_calls:
                request["parallel_tool_calls"] = False
            if prompt.tool_choice == "required" and prompt.tool_name is not None:
                request["tool_choice"] = {"type": "function", "function": {"name": prompt.tool_name}}
        if prompt.stop:
            request["stop"] = list(prompt.stop)
        return request


CLIENT = OpenAICompatible
"""What speaks to the providers whose row names this module."""


def _shaped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message as it travels: with pictures it has parts (https://platform.openai.com/docs/guides/images-vision)."""
    pictures = pictures_of(message)
    if not pictures:
        return message
    parts: list[dict[str, Any]] = [{"type": "text", "text": message["content"]}] if message["content"] else []
    for one in pictures:
        url = f"data:{one.type};base64,{one.content}"
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image_url", "image_url": {"url": url}}]
    return {"role": message["role"], "content": parts}


async def _read_stream(
    reading: _CompatibleStream, content: aiohttp.StreamReader, sink: TextSink, provider: str
) -> None:
    rest = b""
    async for chunk in content.iter_any():
        lines = (rest + chunk).split(b"\n")
        rest = lines.pop()
        if len(rest) > MAX_LINE:
            raise ModelDownError(f"{provider} sent a line without end")
        silent = not reading.length
        ended = _read_lines(reading, lines, sink, provider)
        if silent and reading.length:
            # The first words leave before the rest is worked on: one round of the loop says them, one writes them.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        if ended:
            await _read_out(content)
            return
    if not reading.finished:
        raise ModelDownError(f"{provider} broke off in mid-answer")


def _read_lines(reading: _CompatibleStream, lines: list[bytes], sink: TextSink, provider: str) -> bool:
    """Reads events; whether the last one was among them."""
    for line in lines:
        if not line.startswith(b"data:"):
            continue
        data = line[5:].strip()
        if data == b"[DONE]":
            reading.finished = True
            return True
        try:
            _read_event(reading, orjson.loads(data), sink, provider)
        except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
            raise ModelDownError(f"{provider} sent a chunk that cannot be read") from error
    return False


async def _read_out(content: aiohttp.StreamReader) -> None:
    """Reads the end of the response, so that the connection can be used again; a server that never ends it loses it."""
    if not content.at_eof():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await content.read()


def _read_event(reading: _CompatibleStream, event: dict[str, Any], sink: TextSink, provider: str) -> None:
    # Nearly every event is one piece of text in a choice: what is rare is looked for behind it.
    choices = event.get("choices")
    if choices:
        _read_choice(reading, choices[0], sink, provider)
        if not reading.model:
            reading.model = event.get("model") or ""
    error, usage = event.get("error"), event.get("usage") or event.get("x_groq")
    if error:
        raise _stream_error(provider, _object(error))
    if usage:
        usage = _object(usage)
        usage = _object(usage.get("usage", usage))
        reading.usage = TokenCount(int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))


def _read_choice(reading: _CompatibleStream, choice: dict[str, Any], sink: TextSink, provider: str) -> None:
    delta: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
    piece = delta.get("content")
    if piece:
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise ModelDownError(f"{provider} does not stop talking")
        if not reading.thoughts.over:
            piece = reading.thoughts.heard(piece)
        if piece:
            reading.text.append(piece)
            sink.text(piece)
    reason = choice.get("finish_reason")
    if reason:
        reading.finished = True
        reading.cut = reason == "length"
    calls = delta.get("tool_calls")
    if calls:
        for position, part in enumerate(calls):
            _read_call(reading, _object(part), position, provider)


def _read_call(reading: _CompatibleStream, part: dict[str, Any], position: int, provider: str) -> None:
    index = part.get("index")
    call = reading.calls.setdefault(position if index is None else index, _Call())
    if len(reading.calls) > MAX_CALLS:
        raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
    function = _object(part.get("function"))
    call.model_id = part.get("id") or call.model_id
    call.name = function.get("name") or call.name
    piece = function.get("arguments") or ""
    reading.length += len(piece)
    if reading.length > MAX_TEXT:
        raise BadToolCallError(f"{provider} asked for a call without end")
    call.arguments.append(piece)


async def _body(content: aiohttp.StreamReader, provider: str) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > MAX_LINE:
            raise ModelDownError(f"{provider} sent an answer without end")
    return bytes(body)


def _read_whole(reading: _CompatibleStream, body: bytes, sink: TextSink) -> None:
    """A server that does not stream answers in one piece, which is fine."""
    try:
        _read_event(reading, orjson.loads(body), sink, "the provider")
    except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        raise ModelDownError("the provider's answer cannot be read") from error


def _reply_of(reading: _CompatibleStream, model: str, provider: str) -> ModelAnswer:
    text = "".join(reading.text) + reading.thoughts.rest()
    calls = tuple(_requested(call) for _, call in sorted(reading.calls.items()))
    if not text.strip() and not calls:
        raise ModelDownError(f"{provider} gave an empty reply")
    told = reading.model or model
    return ModelAnswer(text=text, calls=calls, usage=reading.usage, model=told, provider=provider, cut=reading.cut)


def _requested(call: _Call) -> RequestedCall:
    text = "".join(call.arguments).strip() or "{}"
    try:
        arguments = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadToolCallError(f"the arguments for {call.name or 'a tool'} are no JSON") from error
    if not isinstance(arguments, dict) or not call.name:
        raise BadToolCallError("a tool call without a name, or with arguments that are no object")
    return RequestedCall(call.name, orjson.dumps(arguments).decode(), call.model_id)


def _refusal(
    provider: str, status: int, headers: Mapping[str, str], body: bytes
) -> ModelBusyError | ModelDownError | ModelRefusedError | BadToolCallError:
    """The error of an answer that is not 200; the body's text stays out of it, since it may quote the request."""
    error = _error_object(body)
    if status == 400 and error.get("code") in _TOOL_FAILURES:
        return BadToolCallError(f"{provider} could not read its model's tool call")
    if status == 429:
        return ModelBusyError(f"{provider} asks to slow down", _seconds(headers.get("Retry-After")))
    if status >= 500 or status == 408:
        return ModelDownError(f"{provider} answered {status}")
    reason = error.get("code") or error.get("type") or "no code"
    return ModelRefusedError(f"{provider} refused the request: {status} ({reason}); check its key and model")


def _stream_error(provider: str, error: dict[str, Any]) -> ModelDownError | BadToolCallError:
    if error.get("code") in _TOOL_FAILURES:
        return BadToolCallError(f"{provider} could not read its model's tool call")
    return ModelDownError(f"{provider} broke off with an error")


def _error_object(body: bytes) -> dict[str, Any]:
    try:
        return _object(_object(orjson.loads(body)).get("error"))
    except orjson.JSONDecodeError:
        return {}


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _seconds(text: str | None) -> float | None:
    try:
        return None if text is None else max(float(text), 0.0)
    except ValueError:
        return None
