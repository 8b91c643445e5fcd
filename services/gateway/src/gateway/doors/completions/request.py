"""Requests of the OpenAI-compatible API, converted for the bus.

Format: https://platform.openai.com/docs/api-reference/chat/create. Unsupported parameters that would change the answer
are refused by name; unknown ones are ignored, as other servers of this API do.
"""

import json
from base64 import b64decode
from collections.abc import Collection, Mapping
from io import BytesIO
from typing import Annotated, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from contracts.completion_rpc import (
    FUNCTION_PATTERN,
    MAX_MESSAGES,
    MAX_OUTPUT,
    MAX_PICTURES,
    MAX_TOOLS,
    CompleteRequest,
    CompletionCall,
    CompletionMessage,
    CompletionPicture,
    CompletionTool,
)
from contracts.events.chat import Sampling
from contracts.languages import Language
from contracts.plain_text import is_blank
from gateway.domain.file_kinds import PICTURES, FileRefusedError, detect_kind
from gateway.domain.json_schema import compile_schema
from gateway.domain.text_shape import TextShape
from gateway.errors import bad_field

SCHEMA_FIELD = "response_format.json_schema.schema"
_TOO_MANY = f"at most {MAX_PICTURES} pictures in a request"
SHAPE_MESSAGES = 3
"""Messages that a requested format adds: the instruction, and for a second attempt the bad answer and the reason."""


class Open(BaseModel):
    """A model that ignores unknown fields."""

    model_config = ConfigDict(extra="allow", frozen=True)


class ImageUrl(Open):
    """A picture as a data: URL."""

    url: str | None = None


class ContentPart(Open):
    """A part of a message: text, or a picture in a user's message."""

    type: str
    text: str | None = None
    image_url: ImageUrl | None = None


class CalledFunction(Open):
    """A function that an assistant called; the arguments are a JSON object as text."""

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
    parameters: dict[str, object] | None = None


class FunctionTool(Open):
    """A tool that the caller runs."""

    type: Literal["function"] = "function"
    function: FunctionDefinition


class NamedFunction(Open):
    """The name of the function."""

    name: str


class NamedTool(Open):
    """This tool and no other."""

    type: Literal["function"] = "function"
    function: NamedFunction


class AllowedTools(Open):
    """Restricts the choice to these of the caller's tools."""

    mode: Literal["auto", "required"]
    tools: list[NamedTool] = Field(min_length=1, max_length=MAX_TOOLS)


class AllowedChoice(Open):
    """A choice among some of the caller's tools."""

    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


class StreamOptions(Open):
    """Options of the stream."""

    include_usage: bool | None = None


class NamedSchema(Open):
    """A JSON Schema; what it is called has no effect."""

    json_schema: dict[str, object] | None = Field(default=None, alias="schema")


class ResponseFormat(Open):
    """The shape of the answer's text."""

    type: str = "text"
    json_schema: NamedSchema | None = None


Unsupported = tuple[tuple[object, ...], str]
"""The values of an unsupported parameter that have no effect, and what to do instead of other values."""
_UNSUPPORTED: dict[str, Unsupported] = {
    "n": ((1,), "one choice a request: leave n out, or ask again"),
    "logprobs": ((False,), "there are none here: leave it out"),
    "top_logprobs": ((0,), "there are none here: leave it out"),
    "modalities": ((["text"],), "text alone"),
    "audio": ((), "text alone"),
    "functions": ((), "use tools and tool_choice"),
    "function_call": ((), "use tools and tool_choice"),
    "logit_bias": (({},), "tokens are each model's own, and more than one may answer: leave it out"),
    "reasoning_effort": ((), "how a model reasons cannot be chosen here: leave it out"),
    "verbosity": (("medium",), "cannot be chosen here: say it in a message"),
    "web_search_options": ((), "the company's tools are used by themselves: leave it out"),
    "moderation": ((), "there is none to ask for here: leave it out"),
    "store": ((False,), "nothing is kept of a completion: use /v1/responses, or leave it out"),
}
"""The unsupported parameters."""


class ChatCompletionRequest(Sampling, Open):
    """A completion: the whole conversation so far, and parameters for the answer."""

    model: str = Field(min_length=1, max_length=200, description="nexus: the company's own; GET /v1/models lists all")
    messages: list[ChatMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    stop: str | Annotated[list[str], Field(max_length=4)] | None = None
    tools: list[FunctionTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | NamedTool | AllowedChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: ResponseFormat | None = None

    @property
    def wants_usage(self) -> bool:
        """Whether a stream ends with its usage."""
        return self.stream_options is not None and bool(self.stream_options.include_usage)


def completion_request(
    body: ChatCompletionRequest, *, company: str, request_id: str, principal: str, language: Language | None, door: str
) -> CompleteRequest:
    """The request to an agent; raises RefusedError (BAD_FIELD), naming the parameter."""
    check_parameters(body.model_extra or {}, _UNSUPPORTED)
    messages = _messages_of(body)
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
        raise bad_field("tools", "two tools have the same name")
    choice, tool_name = body.tool_choice or "auto", None
    if isinstance(choice, AllowedChoice):
        allowed = {tool.function.name for tool in choice.allowed_tools.tools}
        _check_tool_names(allowed, names)
        tools = [tool for tool in tools if tool.name in allowed]
        choice = choice.allowed_tools.mode
    elif isinstance(choice, NamedTool):
        choice, tool_name = "required", choice.function.name
        _check_tool_names({tool_name}, names)
    if choice == "required" and not tools:
        raise bad_field("tool_choice", "required needs tools of your own; the platform's are used when they are needed")
    max_tokens = body.max_completion_tokens or body.max_tokens
    stop = [body.stop] if isinstance(body.stop, str) else body.stop or []
    return CompleteRequest(
        company_id=company,
        request_id=request_id,
        principal=principal,
        door=door,
        model=body.model,
        messages=messages,
        tools=tools,
        tool_choice=choice,
        tool_name=tool_name,
        temperature=body.temperature,
        max_tokens=min(max_tokens, MAX_OUTPUT) if max_tokens else None,
        stop=[word for word in stop if word],
        sampling=sampling_of(body),
        parallel_calls=body.parallel_tool_calls is not False,
        language=language,
        stream=bool(body.stream),
    )


def _messages_of(body: ChatCompletionRequest) -> list[CompletionMessage]:
    """The messages, followed by the instruction for the answer's format."""
    messages = [_message(message, f"messages[{index}]") for index, message in enumerate(body.messages)]
    _check_calls(messages)
    newest = messages[-1]
    if newest.role == "user" and is_blank(newest.content) and not newest.pictures:
        raise bad_field(f"messages[{len(messages) - 1}].content", "write something")
    if sum(len(message.pictures or ()) for message in messages) > MAX_PICTURES:
        raise bad_field("messages", _TOO_MANY)
    if (shape := text_shape_of(body)) is not None:
        if len(messages) > MAX_MESSAGES - SHAPE_MESSAGES:
            raise bad_field("messages", f"at most {MAX_MESSAGES - SHAPE_MESSAGES} with a response_format")
        messages.append(CompletionMessage(role="system", content=shape.instruction))
    return messages


def text_shape_of(body: ChatCompletionRequest) -> TextShape | None:
    """The format that the answer must have; None if any text will do. Raises RefusedError (BAD_FIELD)."""
    response_format = body.response_format
    if response_format is None or response_format.type == "text":
        return None
    if response_format.type == "json_object":
        return TextShape(None)
    if response_format.type != "json_schema":
        raise bad_field("response_format", f"text, json_object or json_schema, not {response_format.type[:80]!r}")
    if response_format.json_schema is None or response_format.json_schema.json_schema is None:
        raise bad_field(SCHEMA_FIELD, "is missing")
    try:
        compile_schema(response_format.json_schema.json_schema)
    except ValueError as error:
        raise bad_field(SCHEMA_FIELD, str(error)) from None
    return TextShape(response_format.json_schema.json_schema)


def sampling_of(body: Sampling) -> Sampling | None:
    """The request's sampling parameters; None if none are set."""
    set_fields = Sampling.model_fields.keys() & body.model_fields_set
    values = {name: value for name in set_fields if (value := getattr(body, name)) is not None}
    return Sampling(**values) if values else None


def check_parameters(parameters: Mapping[str, object], unsupported: Mapping[str, Unsupported]) -> None:
    """Raises RefusedError (BAD_FIELD), naming the first unsupported parameter that would have an effect."""
    for name, value in parameters.items():
        neutral, instead = unsupported.get(name, ((value,), ""))
        if value is not None and value not in neutral:
            raise bad_field(name, instead)


def _check_tool_names(chosen: Collection[str], names: Collection[str]) -> None:
    for name in sorted(chosen):
        if name not in names:
            raise bad_field("tool_choice", f"there is no tool {name!r} among yours")


def _message(message: ChatMessage, field: str) -> CompletionMessage:
    role = "system" if message.role == "developer" else message.role
    content, pictures = _content(message, field)
    if role == "tool" and not message.tool_call_id:
        raise bad_field(f"{field}.tool_call_id", "which call is this the result of?")
    if role in {"user", "system"} and message.content is None:
        raise bad_field(f"{field}.content", "is missing")
    calls: list[CompletionCall] = []
    for index, call in enumerate(message.tool_calls or ()):
        if role != "assistant":
            raise bad_field(f"{field}.tool_calls", "only an assistant's message has calls")
        if not _is_object(call.function.arguments):
            raise bad_field(f"{field}.tool_calls[{index}].function.arguments", "must be a JSON object as text")
        calls.append(CompletionCall(id=call.id, name=call.function.name, arguments=call.function.arguments or "{}"))
    return CompletionMessage(
        role=role, content=content, calls=calls, call_id=message.tool_call_id, pictures=pictures or None
    )


def _content(message: ChatMessage, field: str) -> tuple[str, list[CompletionPicture]]:
    """A message's text and its pictures."""
    if message.content is None or isinstance(message.content, str):
        return message.content or "", []
    texts: list[str] = []
    pictures: list[CompletionPicture] = []
    for index, part in enumerate(message.content):
        part_field = f"{field}.content[{index}]"
        if part.type == "image_url" and message.role == "user":
            if len(pictures) == MAX_PICTURES:
                raise bad_field("messages", _TOO_MANY)
            pictures.append(_picture(part, part_field, len(pictures) + 1))
        elif part.type != "text" or part.text is None:
            raise bad_field(
                part_field, f"text, and image_url in a user's message, are understood, not {part.type[:80]!r}"
            )
        else:
            texts.append(part.text)
    return "\n".join(texts), pictures


def _picture(part: ContentPart, field: str, number: int) -> CompletionPicture:
    """The picture, with its kind determined from its content; raises RefusedError."""
    url = part.image_url.url if part.image_url is not None else None
    head, _, content = (url or "").partition(",")
    if not head.startswith("data:image/") or not head.endswith(";base64"):
        raise bad_field(field, "send the picture itself, as data:image/png;base64,…: addresses are not fetched here")
    try:
        kind = detect_kind(BytesIO(b64decode(content, validate=True)), "picture")
    except (ValueError, FileRefusedError) as error:
        raise bad_field(field, str(error) or "this is no base64") from None
    if kind.type not in PICTURES:
        raise bad_field(field, f"a picture is PNG, JPEG, GIF or WebP, not {kind.type}")
    return CompletionPicture.model_validate({"name": f"picture {number}", "type": kind.type, "content": content})


def _check_calls(messages: list[CompletionMessage]) -> None:
    """Raises RefusedError unless each call is followed by its result and each result belongs to a call: models refuse
    anything else."""
    open_calls: set[str] = set()
    for index, message in enumerate(messages):
        if message.role == "tool":
            if message.call_id not in open_calls:
                raise bad_field(f"messages[{index}].tool_call_id", "no call with this id comes before it")
            open_calls.discard(message.call_id or "")
            continue
        if open_calls:
            raise bad_field(f"messages[{index}]", f"these calls have no result yet: {', '.join(sorted(open_calls))}")
        open_calls = {call.id for call in message.calls}
    if open_calls:
        raise bad_field("messages", f"these calls have no result yet: {', '.join(sorted(open_calls))}")


def _is_object(text: str) -> bool:
    try:
        return isinstance(cast("object", json.loads(text or "{}")), dict)
    except ValueError:
        return False
