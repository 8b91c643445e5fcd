"""What a caller of the OpenAI-compatible interface sends, as the bus has it.

Format: https://platform.openai.com/docs/api-reference/chat/create. What is not named here is accepted and has no
effect, as servers of this interface do; what would change the answer's shape is refused, by name.
"""

import json
from typing import Annotated, Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from contracts.completion_rpc import (
    FUNCTION_PATTERN,
    MAX_MESSAGES,
    MAX_OUTPUT,
    MAX_TOOLS,
    CompleteRequest,
    CompletionCall,
    CompletionMessage,
    CompletionTool,
)
from contracts.errors import ErrorCode, FieldFault
from contracts.languages import Language
from gateway.errors import Refused


class Open(BaseModel):
    """Fields that are not known here are no error."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ContentPart(Open):
    """A part of a message; texts alone are understood."""

    type: str
    text: str | None = None


class CalledFunction(Open):
    """What an assistant called; the arguments are a JSON object as text."""

    name: str = Field(pattern=FUNCTION_PATTERN)
    arguments: str


class ToolCall(Open):
    """A call in an assistant's message."""

    id: str = Field(min_length=1, max_length=200)
    type: Literal["function"] = "function"
    function: CalledFunction


class ChatMessage(Open):
    """One message."""

    role: Literal["developer", "system", "user", "assistant", "tool"]
    content: str | list[ContentPart] | None = None
    tool_calls: list[ToolCall] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_call_id: str | None = None


class FunctionDefinition(Open):
    """A function of the caller's own."""

    name: str = Field(pattern=FUNCTION_PATTERN)
    description: str | None = None
    parameters: dict[str, Any] | None = None


class FunctionTool(Open):
    """A tool that the caller runs itself."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class NamedFunction(Open):
    """Which one."""

    name: str


class NamedTool(Open):
    """This tool and no other."""

    type: Literal["function"] = "function"
    function: NamedFunction


class StreamOptions(Open):
    """How to stream."""

    include_usage: bool | None = None


class ResponseFormat(Open):
    """Plain text is the one there is."""

    type: str = "text"


class ChatCompletionRequest(Open):
    """A completion: the whole conversation so far, and how to go on."""

    model: str = Field(min_length=1, max_length=200, description="nexus: the company's own; GET /v1/models lists all")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stop: str | Annotated[list[str], Field(max_length=4)] | None = None
    n: int | None = Field(default=None, ge=1)
    tools: list[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | NamedTool | None = None
    response_format: ResponseFormat | None = None
    logprobs: bool | None = None
    modalities: list[str] | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with what it used."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)


def request_of(
    body: ChatCompletionRequest, *, company: str, request_id: str, principal: str, language: Language | None
) -> CompleteRequest:
    """The request to an agent; raises Refused BAD_FIELD, naming the parameter."""
    _check_shape(body)
    messages = [_message(one, f"messages[{index}]") for index, one in enumerate(body.messages)]
    _check_calls(messages)
    tools = [
        CompletionTool(
            name=tool.function.name,
            description=tool.function.description or "",
            parameters=tool.function.parameters or {},
        )
        for tool in body.tools or ()
    ]
    names = [tool.name for tool in tools]
    if len(set(names)) < len(names):
        raise _bad("tools", "two tools have the same name")
    choice, named = body.tool_choice or "auto", None
    if isinstance(choice, NamedTool):
        choice, named = "required", choice.function.name
        if named not in names:
            raise _bad("tool_choice", f"there is no tool {named!r} among yours")
    if choice == "required" and not tools:
        raise _bad("tool_choice", "required needs tools of your own; the platform's are used when they are needed")
    most = body.max_completion_tokens or body.max_tokens
    stop = [body.stop] if isinstance(body.stop, str) else body.stop or []
    return CompleteRequest(
        company_id=company,
        request_id=request_id,
        principal=principal,
        model=body.model,
        messages=messages,
        tools=tools,
        tool_choice=choice,
        tool_name=named,
        temperature=body.temperature,
        max_tokens=min(most, MAX_OUTPUT) if most else None,
        stop=[word for word in stop if word],
        language=language,
        stream=bool(body.stream),
    )


def _check_shape(body: ChatCompletionRequest) -> None:
    if body.n is not None and body.n != 1:
        raise _bad("n", "one choice a request: leave n out, or ask again")
    if body.response_format is not None and body.response_format.type != "text":
        raise _bad("response_format", "answers are text: ask for JSON in words, or offer a tool with a schema")
    if body.logprobs:
        raise _bad("logprobs", "there are none here: leave it out")
    if body.modalities and body.modalities != ["text"]:
        raise _bad("modalities", "text alone")
    for old in ("functions", "function_call"):
        if (body.model_extra or {}).get(old) is not None:
            raise _bad(old, "use tools and tool_choice")


def _message(message: ChatMessage, at: str) -> CompletionMessage:
    role = "system" if message.role == "developer" else message.role
    content = _text(message, at)
    if role == "tool" and not message.tool_call_id:
        raise _bad(f"{at}.tool_call_id", "which call is this the result of?")
    if role in {"user", "system"} and message.content is None:
        raise _bad(f"{at}.content", "is missing")
    calls: list[CompletionCall] = []
    for index, call in enumerate(message.tool_calls or ()):
        if role != "assistant":
            raise _bad(f"{at}.tool_calls", "only an assistant's message has calls")
        if not _is_object(call.function.arguments):
            raise _bad(f"{at}.tool_calls[{index}].function.arguments", "must be a JSON object as text")
        calls.append(CompletionCall(id=call.id, name=call.function.name, arguments=call.function.arguments or "{}"))
    return CompletionMessage(role=role, content=content, calls=calls, call_id=message.tool_call_id)


def _text(message: ChatMessage, at: str) -> str:
    if message.content is None or isinstance(message.content, str):
        return message.content or ""
    for index, part in enumerate(message.content):
        if part.type != "text" or part.text is None:
            raise _bad(f"{at}.content[{index}]", f"text parts alone are understood, not {part.type!r}")
    return "\n".join(part.text or "" for part in message.content)


def _check_calls(messages: list[CompletionMessage]) -> None:
    """Each call is answered right after it, and each result answers a call: models refuse anything else."""
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.call_id not in open_calls:
                raise _bad(f"messages[{index}].tool_call_id", "no call with this id comes before it")
            open_calls.discard(message.call_id or "")
            continue
        if open_calls:
            raise _bad(f"messages[{index}]", f"these calls have no result yet: {', '.join(sorted(open_calls))}")
        open_calls = {call.id for call in message.calls}
    if open_calls:
        raise _bad("messages", f"these calls have no result yet: {', '.join(sorted(open_calls))}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(cast("object", json.loads(text or "{}")), dict)
    except ValueError:
        return False


def _bad(parameter: str, message: str) -> Refused:
    fault = FieldFault(field=parameter, message=message)
    return Refused(ErrorCode.BAD_FIELD, f"{parameter}: {message}", [fault])
