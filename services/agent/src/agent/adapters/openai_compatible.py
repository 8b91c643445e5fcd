"""Any server that speaks the OpenAI chat API, streamed: OpenAI, Groq, Anthropic's compatible endpoint, local servers.

OpenAI's models that refuse it are called through its newer API (openai_responses.py). The stream is read with aiohttp
and orjson: an SDK builds a model for each chunk, which costs more than the rest of the turn.
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
from agent.adapters.openai_responses import (
    THOUGHT_ITEMS,
    OpenAIStream,
    convert_to_response_request,
    read_response_event,
)
from agent.adapters.provider_client import (
    MAX_LINE_BYTES,
    ProviderClient,
    ProviderEndpoint,
    StreamedCall,
    ignore_errors_after_end,
    text_in,
    tokens_in,
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

END_OF_RESPONSE_SECONDS = 0.05
"""Seconds to wait for the end of a response after its last event."""
MAX_REASONING_PIECES = 4_096
"""Pieces of one reply's reasoning that are kept for its tool calls."""
MAX_REASONING_CHARS = 16 * 1024 * 1024
"""Characters of reasoning that are kept for the tool calls of running turns."""
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
"""Parameters that may be left out of a refused request."""


def _do_not_force_tools(request: dict[str, Any]) -> None:
    if request.get("tool_choice", "none") != "none":
        request["tool_choice"] = "auto"


def _add_empty_reasoning(request: dict[str, Any]) -> None:
    """Adds empty reasoning to messages with tool calls: another agent may have received the real one."""
    if "messages" in request:
        request["messages"] = [
            {"reasoning_content": "", **message} if message.get("tool_calls") else message
            for message in request["messages"]
        ]


_REMEDIES = (
    # OpenAI's newer name; its reasoning models refuse the old one.
    renamed("max_tokens", "max_completion_tokens"),
    *map(without, _DISPENSABLE),
    # "To use function tools, use /v1/responses or set reasoning_effort to 'none'."
    Remedy("reasoning_effort", lambda request: request.update(reasoning_effort="none")),
    # For models that refuse "none" too, and for "This model is only supported in v1/responses."
    Remedy("reasoning_effort", convert_to_response_request),
    Remedy("v1/responses", convert_to_response_request),
    # "Unsupported value: 'low' is not supported with the 'gpt-5-pro' model."
    Remedy("reasoning.effort", lambda request: request.pop("reasoning", None)),
    Remedy("tool_choice", _do_not_force_tools),
    # "The `reasoning_content` in the thinking mode must be passed back to the API."
    Remedy("reasoning_content", _add_empty_reasoning),
)


class OpenAICompatible(ProviderClient):
    def __init__(self, endpoint: ProviderEndpoint, session: aiohttp.ClientSession) -> None:
        auth_header = {"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
        super().__init__(endpoint, session, "chat/completions", auth_header, _REMEDIES)
        self._responses = URL(f"{endpoint.base_url.rstrip('/')}/responses")
        self._reasoning = Recent[bytes, str | bytes](MAX_REASONING_CHARS, max_size=MAX_REASONING_CHARS, size=len)
        """Reasoning by _call_key: a text from the chat API, items as JSON from the newer one."""

    def url(self, request: dict[str, Any]) -> URL:
        return self._responses if "input" in request else super().url(request)

    async def read(
        self, response: aiohttp.ClientResponse, prompt: ModelRequest, sink: TextSink
    ) -> tuple[ModelAnswer, bool]:
        stream = OpenAIStream(self.provider, sink)
        if response.content_type == "application/json":
            # A server that does not stream: its reply is a single event.
            body = await _read_body(response.content, self.provider)
            _read_lines(stream, [b"data:" + body.replace(b"\n", b" ")])
        else:
            with ignore_errors_after_end(stream):
                await _read_stream(stream, response.content)
        stream.text.append(stream.thoughts.rest())
        answer = stream.answer(prompt.model)
        if answer.calls and (stream.reasoning or stream.items):
            thoughts = orjson.dumps(stream.items) if stream.items else "".join(stream.reasoning)
            self._reasoning.keep(_call_key(prompt.messages, answer.calls[0].model_id), thoughts)
        return answer, stream.thought or stream.thoughts.found

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
            "messages": self._messages(prompt, known),
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

    def _messages(self, prompt: ModelRequest, known: KnownModel) -> list[Mapping[str, Any]]:
        messages = prompt.messages
        shaped = [_with_pictures(message) if PICTURES in message else message for message in messages]
        if len(self._reasoning):
            wants_items = any(remedy.change is convert_to_response_request for remedy in known.remedies)
            for index, message in enumerate(messages):
                calls = message.get("tool_calls")
                thoughts = self._reasoning.get(_call_key(messages[:index], calls[0]["id"])) if calls else None
                if isinstance(thoughts, str) and not wants_items:
                    shaped[index] = {**message, "reasoning_content": thoughts}
                elif isinstance(thoughts, bytes) and wants_items:
                    shaped[index] = {**message, THOUGHT_ITEMS: orjson.loads(thoughts)}
        return shaped


CLIENT = OpenAICompatible
"""The client class for providers whose row names this module."""


def _call_key(messages: Sequence[Mapping[str, Any]], call: str) -> bytes:
    """Returns a digest of a call's id and the conversation before it: ids alone are not unique. System prompts are left
    out because they change."""
    texts = [(message["role"], message.get("content")) for message in messages if message["role"] != "system"]
    return blake2b(orjson.dumps([texts, call])).digest()


def _with_pictures(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns a message in the provider's format, with its pictures as parts
    (https://platform.openai.com/docs/guides/images-vision)."""
    pictures = pictures_of(message)
    if not pictures:
        return message
    parts: list[dict[str, Any]] = [{"type": "text", "text": message["content"]}] if message["content"] else []
    for picture in pictures:
        url = f"data:{picture.type};base64,{picture.content}"
        parts += [{"type": "text", "text": f"{picture.name}:"}, {"type": "image_url", "image_url": {"url": url}}]
    return {"role": message["role"], "content": parts}


async def _read_stream(stream: OpenAIStream, content: aiohttp.StreamReader) -> None:
    async for chunk in content.iter_any():
        was_empty = not stream.length
        _read_lines(stream, stream.lines(chunk))
        if was_empty and stream.length:
            # Lets the first words leave before the rest is processed: one round of the loop publishes them, one writes.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        if stream.has_ended:
            await _drain(content)
            return
    stream.require_end()


def _read_lines(stream: OpenAIStream, lines: list[bytes]) -> None:
    """Reads events and passes their text on in one piece."""
    known_pieces = len(stream.text)
    try:
        for line in lines:
            if not line.startswith(b"data:"):
                continue
            data = line[5:].strip()
            if data == b"[DONE]":
                stream.finished = stream.has_ended = True
                break
            _read_event(stream, orjson.loads(data))
    except (orjson.JSONDecodeError, AttributeError, TypeError, KeyError, IndexError, ValueError) as error:
        raise ModelDownError(f"{stream.provider} sent a chunk that cannot be read") from error
    finally:
        if len(stream.text) > known_pieces:
            stream.sink.text("".join(stream.text[known_pieces:]))


async def _drain(content: aiohttp.StreamReader) -> None:
    """Reads the end of the response, so that the connection can be reused; gives up after END_OF_RESPONSE_SECONDS."""
    if not content.at_eof():
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(END_OF_RESPONSE_SECONDS):
                await content.read()


def _read_event(stream: OpenAIStream, event: dict[str, Any]) -> None:
    # Nearly every event is one piece of text in a choice, so that case is checked first.
    choices = event.get("choices")
    if choices:
        _read_choice(stream, choices[0])
        if not stream.model:
            stream.model = text_in(event.get("model"))
    elif "type" in event and not event.get("error"):
        read_response_event(stream, event)
        return
    error, usage = event.get("error"), event.get("usage") or event.get("x_groq")
    if error:
        raise _stream_error(stream.provider, object_of(error))
    if usage:
        counts: dict[str, Any] = object_of(usage)
        counts = object_of(counts.get("usage", counts))
        if object_of(counts.get("completion_tokens_details")).get("reasoning_tokens"):
            stream.thought = True
        stream.usage = TokenCount(tokens_in(counts.get("prompt_tokens")), tokens_in(counts.get("completion_tokens")))


def _read_choice(stream: OpenAIStream, choice: dict[str, Any]) -> None:
    delta: dict[str, Any] = choice.get("delta") or choice.get("message") or {}
    piece = delta.get("content") or delta.get("refusal")
    if piece:
        if not isinstance(piece, str):
            piece = "".join(text_in(part.get("text")) for part in objects_of(piece))
        stream.count_text(piece)
        if not stream.thoughts.over:
            piece = stream.thoughts.heard(piece)
        if piece:
            stream.text.append(piece)
    elif thought := delta.get("reasoning_content"):
        # Only servers that use this name want it back; others refuse a field that they do not know.
        stream.thought = True
        if len(stream.reasoning) < MAX_REASONING_PIECES:
            stream.reasoning.append(text_in(thought))
    elif delta.get("reasoning"):
        stream.thought = True
    reason = choice.get("finish_reason")
    if reason:
        if reason == _DECLINED:
            raise ModelDeclinedError(f"{stream.provider} withheld its answer")
        stream.finished = True
        stream.cut = reason == "length"
    calls = delta.get("tool_calls")
    if calls:
        for position, part in enumerate(calls):
            _read_call(stream, object_of(part), position)


def _read_call(stream: OpenAIStream, part: dict[str, Any], position: int) -> None:
    given_index = part.get("index")
    index = given_index if isinstance(given_index, int) else position
    call = stream.calls.get(index) or stream.add_call(index, StreamedCall())
    function: dict[str, Any] = object_of(part.get("function"))
    call.model_id = text_in(part.get("id")) or call.model_id
    call.name = text_in(function.get("name")) or call.name
    piece = function.get("arguments") or ""
    if not isinstance(piece, str):
        # Some servers send an object instead of its JSON text.
        piece = orjson.dumps(piece).decode()
    stream.count_arguments(piece)
    call.pieces.append(piece)


async def _read_body(content: aiohttp.StreamReader, provider: str) -> bytes:
    body = bytearray()
    async for piece in content.iter_any():
        body += piece
        if len(body) > MAX_LINE_BYTES:
            raise ModelDownError(f"{provider} sent an answer without end")
    return bytes(body)


def _stream_error(provider: str, error: dict[str, Any]) -> ModelDownError | BadToolCallError:
    if error.get("code") in _TOOL_FAILURES:
        return BadToolCallError(f"{provider} could not read its model's tool call")
    return ModelDownError(f"{provider} broke off with an error")
