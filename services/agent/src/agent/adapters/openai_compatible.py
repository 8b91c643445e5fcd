"""Any server that speaks the OpenAI chat API, streamed: OpenAI, Groq, Anthropic's compatible endpoint, local servers.

Models of OpenAI's that refuse it are asked over its newer API (openai_responses.py). The stream is read with aiohttp
and orjson. An SDK builds a model for each chunk, which costs more than the rest of the turn.
Wire format: https://platform.openai.com/docs/api-reference/chat-streaming (server-sent events).
"""

import asyncio
import contextlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

import aiohttp
import orjson
from yarl import URL

from agent.adapters.known_models import KnownModel, Remedy, renamed, without
from agent.adapters.openai_responses import THOUGHT_ITEMS, OpenAIStream, as_response, read_event
from agent.adapters.provider_client import (
    MAX_CALLS,
    MAX_LINE,
    MAX_TEXT,
    ProviderClient,
    ProviderEndpoint,
    StreamedCall,
    text_in,
    tokens_in,
    whole_once_finished,
)
from agent.domain.pictures import PICTURES, pictures_of
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
from contracts.json_values import object_of, objects_of
from runtime.http.retry_after import seconds_in
from runtime.recent import Recent

LINGER = 0.05
"""Seconds to wait for the end of a response whose last event has come."""
MAX_REASONING = 4_096
"""Pieces of one reply's thoughts that are kept for its calls."""
KEPT_REASONING = 16 * 1024 * 1024
"""Characters of thoughts that are kept for calls of turns under way."""
_TOOL_FAILURES = frozenset({"tool_use_failed", "invalid_tool_call"})
_DECLINED = "content_filter"
_DISPENSABLE = (
    "temperature",
    "top_p",
    "frequency_penalty",
    "presence_penalty",
    "seed",
    "stop",
    "parallel_tool_calls",
    "stream_options",
)
"""Parameters without which a request is answered all the same."""


def _unforced(request: dict[str, Any]) -> None:
    if request.get("tool_choice", "none") != "none":
        request["tool_choice"] = "auto"


def _with_reasoning(request: dict[str, Any]) -> None:
    """Another agent may have had the thoughts: then there are none."""
    if "messages" in request:
        request["messages"] = [
            {"reasoning_content": "", **one} if one.get("tool_calls") else one for one in request["messages"]
        ]


_REMEDIES = (
    # The newer name at OpenAI, whose reasoning models do not take the old one.
    renamed("max_tokens", "max_completion_tokens"),
    *map(without, _DISPENSABLE),
    # "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    Remedy("reasoning_effort", lambda request: request.update(reasoning_effort="none")),
    # Where "none" is refused too, and "This model is only supported in v1/responses."
    Remedy("reasoning_effort", as_response),
    Remedy("v1/responses", as_response),
    # "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model."
    Remedy("reasoning.effort", lambda request: request.pop("reasoning", None)),
    Remedy("tool_choice", _unforced),
    # "The `reasoning_content` in the thinking mode must be passed back to the API."
    Remedy("reasoning_content", _with_reasoning),
)


class OpenAICompatible(ProviderClient):
    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        key = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        super().__init__(endpoint, session, "chat/completions", key, _REMEDIES)
        self._responses = URL(f"{endpoint.base_url.rstrip('/')}/responses")
        self._reasoning = Recent[bytes, str | bytes](KEPT_REASONING, largest=KEPT_REASONING, size=len)
        """Thoughts by their place: a text over the chat API, items as JSON over the newer one."""

    def url(self, request: dict[str, Any]) -> URL:
        return self._responses if "input" in request else super().url(request)

    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        reading = OpenAIStream()
        if response.content_type == "application/json":
            _read_whole(reading, await _body(response.content, self.provider), sink)
        else:
            with whole_once_finished(reading):
                await _read_stream(reading, response.content, sink, self.provider)
        answer = ModelAnswer(
            text="".join(reading.text) + reading.thoughts.rest(),
            calls=tuple(call.requested() for _, call in sorted(reading.calls.items())),
            usage=reading.usage,
            model=reading.model or prompt.model,
            provider=self.provider,
            cut=reading.cut,
        )
        if answer.calls and (reading.reasoning or reading.items):
            thoughts = orjson.dumps(reading.items) if reading.items else "".join(reading.reasoning)
            self._reasoning.keep(_place(prompt.messages, answer.calls[0].model_id), thoughts)
        return answer, reading.thought or reading.thoughts.found

    def refusal(self, status: int, retry_after: str | None, error: dict[str, Any]) -> ModelError:
        if status == 400 and error.get("code") in _TOOL_FAILURES:
            return BadToolCallError(f"{self.provider} could not read its model's tool call")
        if status == 400 and error.get("code") == _DECLINED:
            return ModelDeclinedError(f"{self.provider} does not answer this")
        if status == 429:
            return ModelBusyError(f"{self.provider} asks to slow down", seconds_in(retry_after))
        if status >= 500 or status == 408:
            return ModelDownError(f"{self.provider} answered {status}")
        reason = error.get("code") or error.get("type") or "no code"
        return ModelRefusedError(f"{self.provider} refused the request: {status} ({reason}); check its key and model")

    def request(self, prompt: ModelRequest, known: KnownModel) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": prompt.model,
            "messages": self._shaped(prompt, known),
            "temperature": prompt.temperature,
            "max_tokens": prompt.max_tokens,
            "stream": True,
            "stream_options": {"include_usage": True},
            **(prompt.sampling or {}),
        }
        if prompt.tools:
            request["tools"] = [orjson.Fragment(tool.definition) for tool in prompt.tools]
            request["tool_choice"] = prompt.tool_choice
            if not prompt.parallel_calls:
                request["parallel_tool_calls"] = False
            if prompt.tool_choice == "required" and prompt.tool_name is not None:
                request["tool_choice"] = {"type": "function", "function": {"name": prompt.tool_name}}
        if prompt.stop:
            request["stop"] = list(prompt.stop)
        return request

    def _shaped(self, prompt: ModelRequest, known: KnownModel) -> list[Mapping[str, Any]]:
        messages = prompt.messages
        shaped = [_with_pictures(one) if PICTURES in one else one for one in messages]
        if len(self._reasoning):
            in_items = any(remedy.change is as_response for remedy in known.remedies)
            for at, one in enumerate(messages):
                calls = one.get("tool_calls")
                thoughts = self._reasoning.get(_place(messages[:at], calls[0]["id"])) if calls else None
                if isinstance(thoughts, str) and not in_items:
                    shaped[at] = {**one, "reasoning_content": thoughts}
                elif isinstance(thoughts, bytes) and in_items:
                    shaped[at] = {**one, THOUGHT_ITEMS: orjson.loads(thoughts)}
        return shaped


CLIENT = OpenAICompatible
"""The client class for providers whose row names this module."""


def _place(messages: Sequence[Mapping[str, Any]], call: str) -> bytes:
    """Where in which conversation a call stands: its id alone may be another's too, and system prompts change."""
    said = [(one["role"], one.get("content")) for one in messages if one["role"] != "system"]
    return blake2b(orjson.dumps([said, call])).digest()


def _with_pictures(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message in the provider's format; one with pictures has parts
    (https://platform.openai.com/docs/guides/images-vision)."""
    pictures = pictures_of(message)
    if not pictures:
        return message
    parts: list[dict[str, Any]] = [{"type": "text", "text": message["content"]}] if message["content"] else []
    for one in pictures:
        url = f"data:{one.type};base64,{one.content}"
        parts += [{"type": "text", "text": f"{one.name}:"}, {"type": "image_url", "image_url": {"url": url}}]
    return {"role": message["role"], "content": parts}


async def _read_stream(reading: OpenAIStream, content: aiohttp.StreamReader, sink: TextSink, provider: str) -> None:
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


def _read_lines(reading: OpenAIStream, lines: list[bytes], sink: TextSink, provider: str) -> bool:
    """Reads events and passes their text on in one piece; returns whether the last event was among them."""
    known = len(reading.text)
    try:
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                reading.finished = reading.over = True
                break
            _read_event(reading, orjson.loads(data), provider)
    except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        raise ModelDownError(f"{provider} sent a chunk that cannot be read") from error
    finally:
        if len(reading.text) > known:
            sink.text("".join(reading.text[known:]))
    return reading.over


async def _read_out(content: aiohttp.StreamReader) -> None:
    """Reads the end of the response, so that the connection can be used again; a server that never ends it loses it."""
    if not content.at_eof():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LINGER):
                await content.read()


def _read_event(reading: OpenAIStream, event: dict[str, Any], provider: str) -> None:
    # Nearly every event is one piece of text in a choice: what is rare is looked for behind it.
    choices = event.get("choices")
    if choices:
        _read_choice(reading, choices[0], provider)
        if not reading.model:
            reading.model = text_in(event.get("model"))
    elif "type" in event and not event.get("error"):
        read_event(reading, event, provider)
        return
    error, usage = event.get("error"), event.get("usage") or event.get("x_groq")
    if error:
        raise _stream_error(provider, object_of(error))
    if usage:
        counts: dict[str, Any] = object_of(usage)
        counts = object_of(counts.get("usage", counts))
        if object_of(counts.get("completion_tokens_details")).get("reasoning_tokens"):
            reading.thought = True
        reading.usage = TokenCount(tokens_in(counts.get("prompt_tokens")), tokens_in(counts.get("completion_tokens")))


def _read_choice(reading: OpenAIStream, choice: dict[str, Any], provider: str) -> None:
    delta: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
    piece = delta.get("content") or delta.get("refusal")
    if piece:
        if not isinstance(piece, str):
            piece = "".join(text_in(part.get("text")) for part in objects_of(piece))
        reading.length += len(piece)
        if reading.length > MAX_TEXT:
            raise ModelDownError(f"{provider} does not stop talking")
        if not reading.thoughts.over:
            piece = reading.thoughts.heard(piece)
        if piece:
            reading.text.append(piece)
    elif thought := delta.get("reasoning_content"):
        # Only who calls it so wants it back: others refuse a field that they do not know.
        reading.thought = True
        if len(reading.reasoning) < MAX_REASONING:
            reading.reasoning.append(text_in(thought))
    elif delta.get("reasoning"):
        reading.thought = True
    reason = choice.get("finish_reason")
    if reason:
        if reason == _DECLINED:
            raise ModelDeclinedError(f"{provider} withheld its answer")
        reading.finished = True
        reading.cut = reason == "length"
    calls = delta.get("tool_calls")
    if calls:
        for position, part in enumerate(calls):
            _read_call(reading, object_of(part), position, provider)


def _read_call(reading: OpenAIStream, part: dict[str, Any], position: int, provider: str) -> None:
    index = part.get("index")
    call = reading.calls.setdefault(index if isinstance(index, int) else position, StreamedCall())
    if len(reading.calls) > MAX_CALLS:
        raise BadToolCallError(f"{provider} asked for more than {MAX_CALLS} tools at once")
    function: dict[str, Any] = object_of(part.get("function"))
    call.model_id = text_in(part.get("id")) or call.model_id
    call.name = text_in(function.get("name")) or call.name
    piece = function.get("arguments") or ""
    if not isinstance(piece, str):
        # Some servers send the object itself instead of its text.
        piece = orjson.dumps(piece).decode()
    reading.length += len(piece)
    if reading.length > MAX_TEXT:
        raise BadToolCallError(f"{provider} asked for a call without end")
    call.pieces.append(piece)


async def _body(content: aiohttp.StreamReader, provider: str) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > MAX_LINE:
            raise ModelDownError(f"{provider} sent an answer without end")
    return bytes(body)


def _read_whole(reading: OpenAIStream, body: bytes, sink: TextSink) -> None:
    """Reads the reply of a server that does not stream: one event without its name."""
    _read_lines(reading, [b"data:" + body.replace(b"\n", b" ")], sink, "the provider")


def _stream_error(provider: str, error: dict[str, Any]) -> ModelDownError | BadToolCallError:
    if error.get("code") in _TOOL_FAILURES:
        return BadToolCallError(f"{provider} could not read its model's tool call")
    return ModelDownError(f"{provider} broke off with an error")
