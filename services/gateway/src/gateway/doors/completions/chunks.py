"""Responses of the OpenAI-compatible API, as one object or in chunks (snake_case, as in that API).

Format: https://platform.openai.com/docs/api-reference/chat/object and …/chat/streaming. In addition, if orders wait for
their user's confirmation: `pending_actions`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import BaseModel, Field

from contracts.completion_rpc import CompletionCall, CompletionEnd
from contracts.json_values import JsonObject
from gateway.doors.completions.request import CalledFunction, ToolCall


class ChatCompletionUsage(BaseModel):
    """Tokens, as the provider counted them."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChatCompletionMessage(BaseModel):
    """The answer."""

    role: str = "assistant"
    content: str | None
    tool_calls: list[ToolCall] | None = None
    refusal: None = None


class ChatCompletionChoice(BaseModel):
    """The one there is."""

    index: int = 0
    message: ChatCompletionMessage
    finish_reason: str
    logprobs: None = None


class ChatCompletion(BaseModel):
    """A whole answer; `created` in seconds since the epoch."""

    id: str
    object: str = "chat.completion"
    created: int
    model: str
    choices: list[ChatCompletionChoice]
    usage: ChatCompletionUsage
    pending_actions: list[JsonObject] | None = Field(
        default=None, description="orders that the answer has prepared and that wait for their user's yes"
    )


@dataclass(frozen=True, slots=True)
class ChunkedAnswer:
    """The fields that all chunks of an answer have in common."""

    id: str
    created: int
    model: str

    def completion(self, text: str, end: CompletionEnd) -> ChatCompletion:
        """The whole answer as one object."""
        calls = [ToolCall(id=c.id, function=CalledFunction(name=c.name, arguments=c.arguments)) for c in end.calls]
        message = ChatCompletionMessage(content=text if text or not calls else None, tool_calls=calls or None)
        return ChatCompletion(
            id=self.id,
            created=self.created,
            model=end.model or self.model,
            choices=[ChatCompletionChoice(message=message, finish_reason=end.finish_reason)],
            usage=_usage(end),
            pending_actions=_actions(end) or None,
        )

    def first_chunk(self) -> JsonObject:
        """The first chunk."""
        return self._chunk({"role": "assistant", "content": ""})

    def text_chunk(self, text: str) -> JsonObject:
        return self._chunk({"content": text})

    def last_chunks(self, end: CompletionEnd, *, with_usage: bool) -> Iterator[JsonObject]:
        """The last chunks; from then on it is known which model answered."""
        answer = replace(self, model=end.model or self.model)
        if end.calls:
            yield answer._chunk({"tool_calls": [_delta(index, call) for index, call in enumerate(end.calls)]})
        closing = answer._chunk({}, end.finish_reason)
        if end.actions:
            closing["pending_actions"] = _actions(end)
        yield closing
        if with_usage:
            yield answer._chunk({}) | {"choices": [], "usage": _usage(end).model_dump()}

    def _chunk(self, delta: JsonObject, finish_reason: str | None = None) -> JsonObject:
        return {
            "id": self.id,
            "object": "chat.completion.chunk",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish_reason, "logprobs": None}],
        }


def _delta(index: int, call: CompletionCall) -> JsonObject:
    function = {"name": call.name, "arguments": call.arguments}
    return {"index": index, "id": call.id, "type": "function", "function": function}


def _usage(end: CompletionEnd) -> ChatCompletionUsage:
    prompt, completion = end.usage.prompt_tokens, end.usage.completion_tokens
    return ChatCompletionUsage(prompt_tokens=prompt, completion_tokens=completion, total_tokens=prompt + completion)


def _actions(end: CompletionEnd) -> list[JsonObject]:
    return [action.model_dump(mode="json", exclude_none=True) for action in end.actions]
