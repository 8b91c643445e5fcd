"""A completion: the copilot with its tools, for a caller who sends the whole conversation each time.

It is answered in parts (`runtime.calls.streamed_calls`): pieces of text, then one end. It is no stored conversation.
Errors, besides those of the runtime: UNAUTHORIZED (no valid principal of this company), NOT_FOUND (`reason` model or
company), BAD_FIELD (`reason` context_length_exceeded: more than fits the model's window; no_pictures: the model takes
none), RATE_LIMITED (a budget is spent; `reason` day or hour says when it is renewed), UNAVAILABLE (no model answered,
or it failed after part of its answer had been sent), TIMEOUT.
"""

from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.agent_rpc import QUEUE
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Action, Sampling, Usage
from contracts.ids import CompanyId, Id
from contracts.languages import Language
from contracts.rpc import Rpc

OWN_MODEL = "nexus"
"""The name that stands for the model that the company has set."""
CONTEXT_LENGTH = "context_length_exceeded"
"""BAD_FIELD's reason if the request does not fit the model's window."""
NO_PICTURES = "no_pictures"
"""BAD_FIELD's reason if there are pictures and the model takes none."""
MAX_MESSAGES = 1000
MAX_TOOLS = 128
MAX_PICTURES = 5
"""Pictures in a request: every provider takes at least as many."""
MAX_OUTPUT = 8192
FUNCTION_PATTERN = r"^[A-Za-z0-9_-]{1,64}$"


class CompletionCall(Wire):
    """A call of one of the caller's own tools; `arguments` is a JSON object as text."""

    id: str = Field(min_length=1, max_length=200)
    name: str = Field(pattern=FUNCTION_PATTERN)
    arguments: str


class CompletionPicture(Wire):
    """A picture in a user's message; `content` in base64."""

    name: str = Field(min_length=1, max_length=120)
    type: str = Field(max_length=100)
    content: str = Field(min_length=1)


class CompletionMessage(Wire):
    """One of the caller's messages. An assistant's may contain calls, a user's pictures; a tool's contains the result
    of the call that it names."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    calls: list[CompletionCall] = Field(default_factory=list[CompletionCall], max_length=MAX_TOOLS)
    call_id: str | None = None
    pictures: list[CompletionPicture] | None = Field(default=None, max_length=MAX_PICTURES)


class CompletionTool(Wire):
    """A tool that the caller runs itself; `parameters` is JSON Schema."""

    name: str = Field(pattern=FUNCTION_PATTERN)
    description: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict[str, Any])


class CompleteRequest(Wire):
    """A request for a completion. The principal alone says who is asking and with which plan. Fields that are not set
    take the company's values.

    `toolChoice`: with `none` the model may call no tool, not even the platform's; with `required` it must call one of
    the caller's, which `toolName` may name.
    """

    company_id: CompanyId
    request_id: Id
    principal: str
    model: str = OWN_MODEL
    messages: list[CompletionMessage] = Field(min_length=1, max_length=MAX_MESSAGES)
    tools: list[CompletionTool] = Field(default_factory=list[CompletionTool], max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] = "auto"
    tool_name: str | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_tokens: int | None = Field(default=None, ge=1, le=MAX_OUTPUT)
    stop: list[str] = Field(default_factory=list[str], max_length=4)
    sampling: Sampling | None = None
    parallel_calls: bool = Field(default=True, description="false: the model asks for one tool at a time")
    language: Language | None = None
    door: str | None = Field(default=None, max_length=32, description="by which protocol it came")
    stream: bool = Field(default=True, description="false: texts come when they are whole, so that none breaks off")
    structured: bool = Field(default=False, description="a program reads the text: the last reply's, and nothing else")


class CompletionEnd(Wire):
    """The end of a completion. The caller runs the tool calls in `calls`; `actions` wait for the user's confirmation,
    which is not given in this call."""

    finish_reason: Annotated[Literal["stop", "length", "tool_calls"], OPEN]
    model: str
    usage: Usage
    calls: list[CompletionCall] = Field(default_factory=list[CompletionCall])
    actions: list[Action] = Field(default_factory=list[Action])


class CompletePart(Wire):
    """More text, or the end; the last part holds an end."""

    text: str | None = None
    end: CompletionEnd | None = None


class ModelsRequest(Wire):
    """Asks for the model names that a completion of this company may use."""

    company_id: CompanyId


class ModelName(Wire):
    """A model's name and its provider."""

    id: str
    provider: str


class ModelsReply(Wire):
    """The company's own choice first, then the other models of its provider."""

    models: list[ModelName]


COMPLETE = Rpc("rpc.agent.complete.v1", CompleteRequest, CompletePart, queue=QUEUE, safe=False)
MODELS = Rpc("rpc.agent.models.v1", ModelsRequest, ModelsReply, queue=QUEUE)
