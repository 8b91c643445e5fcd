"""Requests of Open Responses. Parameters without effect are accepted; unsupported ones that would change the answer
are refused by name (docs/architecture/doors.md has the list)."""

import hashlib
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, StrictBool

from contracts.completion_rpc import FUNCTION_PATTERN, MAX_MESSAGES, MAX_TOOLS, OWN_MODEL
from contracts.events.chat import Sampling
from gateway.doors.approvals import ends_with_question
from gateway.doors.completions.request import Open, Unsupported, check_parameters
from gateway.doors.responses.names import response_id_of_item
from gateway.errors import bad_field


class MessagePart(Open):
    """A part of a message."""

    type: str
    text: str | None = None
    image_url: str | None = None


class InputItem(Open):
    """An item of the input; its type decides which fields it has."""

    type: str = "message"
    id: str | None = Field(default=None, max_length=200)
    role: Literal["user", "system", "developer", "assistant"] | None = None
    content: str | list[MessagePart] | None = None
    call_id: str | None = Field(default=None, max_length=200)
    name: str | None = None
    arguments: str | None = None
    output: str | list[MessagePart] | None = None
    approval_request_id: str | None = Field(default=None, max_length=200)
    approve: StrictBool | None = None

    @property
    def has_pictures(self) -> bool:
        """Whether it is a user's message with pictures."""
        parts = self.content if self.role == "user" and isinstance(self.content, list) else ()
        return any(part.type == "input_image" for part in parts)


class ClientTool(Open):
    """A function of the caller's own; or our tools, by their label, if the client accepts items that ask for
    confirmation."""

    type: str
    server_label: str | None = None
    name: str | None = Field(default=None, pattern=FUNCTION_PATTERN)
    description: str | None = None
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChosenTools(Open):
    """This function and no other; or, as `allowed_tools`, a choice among these of the caller's functions."""

    type: str
    name: str | None = None
    mode: Literal["auto", "required"] = "auto"
    tools: list[ClientTool] = Field(default_factory=list[ClientTool], max_length=MAX_TOOLS)

    def shown(self) -> dict[str, Any]:
        """The choice as a response repeats it."""
        mode = {"mode": self.mode} if self.type == "allowed_tools" else {}
        return self.model_dump(exclude_unset=True) | mode

    def for_completion(self) -> dict[str, Any]:
        """The same choice as a chat completion has it."""
        if self.type == "function":
            return {"type": "function", "function": {"name": self.name or ""}}
        names = [tool.name or "" for tool in self.tools if tool.type == "function"]
        functions = [{"type": "function", "function": {"name": name}} for name in names]
        return {"type": "allowed_tools", "allowed_tools": {"mode": self.mode, "tools": functions}}


class Format(Open):
    """The shape of the answer's text."""

    type: Literal["text", "json_object", "json_schema"] = "text"
    name: str | None = None
    json_schema: dict[str, Any] | None = Field(default=None, alias="schema")


class TextOptions(Open):
    """Options of the answer's text."""

    format: Format = Field(default_factory=Format)
    verbosity: str | None = None


_ANY_FORMAT = Format()


class Reasoning(Open):
    """Reasoning options, which have no effect here."""

    effort: str | None = None
    summary: str | None = None


class CreateResponse(Sampling, Open):
    """A response: what to answer, and in which conversation."""

    model: str = Field(default=OWN_MODEL, min_length=1, max_length=200, description="GET /v1/models lists them")
    input: str | Annotated[list[InputItem], Field(max_length=MAX_MESSAGES)] = Field(min_length=1)
    instructions: str | None = None
    previous_response_id: str | None = Field(default=None, max_length=200)
    store: bool | None = None
    background: bool | None = None
    stream: bool | None = None
    tools: list[ClientTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: Literal["auto", "none", "required"] | ChosenTools | None = None
    parallel_tool_calls: bool | None = None
    truncation: Literal["auto", "disabled"] | None = None
    temperature: float | None = Field(default=None, ge=0, le=2)
    max_output_tokens: int | None = Field(default=None, ge=1, le=2**31 - 1)
    text: TextOptions | None = None
    reasoning: Reasoning | None = None
    include: list[str] | None = None
    metadata: dict[str, str] | None = Field(default=None, max_length=16)

    @property
    def functions(self) -> list[ClientTool]:
        """The caller's own tools."""
        return [tool for tool in self.tools or () if tool.type == "function"]

    @property
    def items(self) -> list[InputItem]:
        """The input as items."""
        if isinstance(self.input, str):
            return [InputItem(role="user", content=self.input)]
        return self.input

    @property
    def format(self) -> Format:
        """The shape of the answer's text."""
        return self.text.format if self.text is not None else _ANY_FORMAT


LABEL = "nexus"
"""The server label of our tools and confirmations."""
_IGNORED_INCLUDES = frozenset({"reasoning.encrypted_content"})
"""Values of `include` that have no effect, since we produce nothing of the kind."""
_UNSUPPORTED: dict[str, Unsupported] = {
    "conversation": ((), "use previous_response_id: each response names its conversation"),
    "prompt": ((), "there are no stored prompts: send instructions"),
    "max_tool_calls": ((), "the company's settings bound the tools"),
    "top_logprobs": ((0,), "there are none here: leave it out"),
    "context_management": (([],), "a kept conversation is summed up by itself: leave it out"),
    "moderation": ((), "there is none to ask for here: leave it out"),
    "access_programs": (({}, {"cyber": "standard"}), "there are none here: leave it out"),
    "image": (({}, {"context_compression": "auto"}), "cannot be chosen here: leave it out"),
}
_DELIVERY_FIELDS = {"stream", "stream_options", "background", "include"}
APPROVAL, _REFERENCE = "mcp_approval_response", "item_reference"
_ECHO_TYPES = frozenset({_REFERENCE, "reasoning", "mcp_call", "mcp_list_tools", "mcp_approval_request"})
"""Types of our own items that a client sends back with its history, or refers to; ignored, since the log has them."""
_INSTRUCTION_ROLES = frozenset({"system", "developer"})


def check(body: CreateResponse) -> None:
    """Raises RefusedError (BAD_FIELD), naming the first unsupported parameter."""
    check_parameters(body.model_extra or {}, _UNSUPPORTED)
    for index, name in enumerate(body.include or ()):
        if name not in _IGNORED_INCLUDES:
            raise bad_field(f"include[{index}]", f"there is no {name!r} here")
    for index, tool in enumerate(body.tools or ()):
        if is_platform_tool(tool):
            continue
        if tool.type != "function":
            raise bad_field(f"tools[{index}].type", "functions of your own alone: ours are used by themselves")
        if tool.name is None:
            raise bad_field(f"tools[{index}].name", "is missing")
    if body.reasoning is not None and (body.reasoning.effort or body.reasoning.summary):
        field = "effort" if body.reasoning.effort else "summary"
        raise bad_field(f"reasoning.{field}", "how a model reasons cannot be chosen here: leave it out")
    if body.text is not None and body.text.verbosity not in (None, "medium"):
        raise bad_field("text.verbosity", "cannot be chosen here: say it in instructions")
    if body.format.type == "json_schema" and body.format.json_schema is None:
        raise bad_field("text.format.schema", "is missing")
    choice = body.tool_choice
    if isinstance(choice, ChosenTools) and choice.type not in ("function", "allowed_tools"):
        raise bad_field("tool_choice.type", "auto, none, required, one function or allowed_tools")
    if isinstance(choice, ChosenTools) and choice.type == "allowed_tools" and not _only_functions(choice.tools):
        raise bad_field("tool_choice.tools", "functions of your own: ours are used by themselves")
    if body.background and body.store is False:
        raise bad_field("background", "needs a response that is kept: leave store out")


def _only_functions(tools: Sequence[ClientTool]) -> bool:
    """Whether there are functions among the tools, and nothing else but the platform's own tools."""
    others = [tool for tool in tools if not is_platform_tool(tool)]
    return bool(others) and all(tool.type == "function" for tool in others)


def is_platform_tool(tool: ClientTool) -> bool:
    """Whether it stands for the platform's own tools, which are used in any case."""
    return tool.type == "mcp" and tool.server_label == LABEL


def takes_approvals(body: CreateResponse, client: str) -> bool:
    """Whether the client accepts an `mcp_approval_request`. `client`: its User-Agent. OpenAI's Agents SDK ends a run at
    an item whose server is not among its tools."""
    return not client.startswith("Agents/") or any(map(is_platform_tool, body.tools or ()))


def text_of(content: str | list[MessagePart] | None, field: str, *, first: int = 0) -> str:
    """The text of a message's content or of a result, with parts counted from `first`; raises RefusedError (BAD_FIELD)
    for anything but text."""
    if content is None:
        raise bad_field(field, "is missing")
    if isinstance(content, str):
        return content
    for index, part in enumerate(content, first):
        if part.type not in {"input_text", "output_text", "text"} or part.text is None:
            raise bad_field(f"{field}[{index}]", f"text parts alone are understood, not {part.type!r}")
    return "\n".join(part.text or "" for part in content)


def is_echo(item: InputItem) -> bool:
    """Whether the item only repeats or refers to what we sent before."""
    return item.type in _ECHO_TYPES


def with_previous_response(body: CreateResponse) -> CreateResponse:
    """The request with a `previous_response_id`, if its items name that response: by a reference to an item of ours, or
    by an answer to our request for approval, be it in words. The log has everything up to there.

    Raises:
        RefusedError: BAD_FIELD, a referenced item belongs to no kept response.
    """
    if isinstance(body.input, str):
        return body
    items, first_new_index = body.input, _first_new_index(body.input)
    reference_indexes = [index for index, item in enumerate(items) if item.type == _REFERENCE]
    if not (reference_indexes or approvals_in(body) or _answers_question(body, items, first_new_index)):
        return body
    item_ids = [item.approval_request_id or item.id for item in items]
    response_id = next(
        (name for item_id in reversed(item_ids) if (name := response_id_of_item(item_id)) is not None), None
    )
    if body.previous_response_id is None and response_id is None:
        if reference_indexes:
            reason = "nothing is kept of such an item: send the items themselves, with store false"
            raise bad_field(f"input[{reference_indexes[0]}].id", reason)
        return body
    # Earlier items are replaced, not removed, since errors name items by index.
    new_items = [
        item if index >= first_new_index or item.role in _INSTRUCTION_ROLES else _PAST_ITEM
        for index, item in enumerate(items)
    ]
    return body.model_copy(
        update={"input": new_items, "previous_response_id": body.previous_response_id or str(response_id)}
    )


def _answers_question(body: CreateResponse, items: Sequence[InputItem], first_new_index: int) -> bool:
    """Whether the user's message follows a kept response that asked for approval in words. Whoever sends the whole
    history would otherwise say yes outside the conversation in which the order waits."""
    if first_new_index in {0, len(items)} or body.functions or body.store is False:
        return False
    asked = items[first_new_index - 1]
    content = asked.content[-1].text if asked.content and not isinstance(asked.content, str) else asked.content
    return ends_with_question(str(content)) and response_id_of_item(asked.id) is not None


def approvals_in(body: CreateResponse) -> list[tuple[str, bool]]:
    """The new answers to requests for approval: the request's id and whether it is approved. Raises RefusedError
    (BAD_FIELD)."""
    if isinstance(body.input, str):
        return []
    approvals: list[tuple[str, bool]] = []
    first_new_index = _first_new_index(body.input)
    for index, item in enumerate(body.input[first_new_index:], first_new_index):
        if item.type == APPROVAL:
            if item.approval_request_id is None or item.approve is None:
                raise bad_field(f"input[{index}].approval_request_id", "which request is it, and is it approved?")
            approvals.append((item.approval_request_id, item.approve))
    return approvals


def only_approves(body: CreateResponse) -> bool:
    """Whether the request has answers to requests for approval, and nothing else that is new."""
    if isinstance(body.input, str):
        return False
    new_items = [item for item in body.input[_first_new_index(body.input) :] if item.role not in _INSTRUCTION_ROLES]
    return bool(new_items) and all(item.type == APPROVAL for item in new_items)


def _first_new_index(items: Sequence[InputItem]) -> int:
    """The index of the first item after our last one."""
    own_positions = [index for index, item in enumerate(items, 1) if item.role == "assistant" or is_echo(item)]
    return max(own_positions, default=0)


_PAST_ITEM = InputItem(type=_REFERENCE)


def fingerprint(body: CreateResponse) -> str:
    """A digest that is the same for the same request, whether its answer is streamed or not."""
    content = body.model_dump_json(by_alias=True, exclude=_DELIVERY_FIELDS, exclude_unset=True)
    return hashlib.sha256(content.encode()).hexdigest()
