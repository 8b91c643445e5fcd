"""Tools that a company declares in its settings: calls of its own HTTP API, and tools of MCP servers."""

import json
import re
from typing import Annotated, Any, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, StrictBool, StrictInt, ValidationInfo, model_validator

from contracts.enumerations import OPEN_EXCEPT_INPUT, is_input
from contracts.json_values import is_object, list_of
from contracts.plain_text import WORDS_OF_SETTINGS
from contracts.schema_cost import check_cost
from contracts.strict import Strict

MAX_SCHEMA_BYTES = 16_384
"""Bytes of a tool's JSON Schema."""
_MAX_DEPTH = 16
ACTION_PREFIX = "own_"
"""Prefix of the id of an action that is a call of an own tool; the market-adapter's actions are orders."""
ACTION_KIND = "own_tool"
AGENTS_TOOLS = frozenset({"hand_off", "market_analysis", "show_tools"})
"""Tools that agents run themselves: no company's tool can have such a name."""
_NAME = r"^[a-z][a-z0-9_]{0,47}$"
_PLAIN = re.compile(r"[!-~]+")
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]{0,63})\}")
_RESERVED_HEADERS = frozenset(
    {
        "host", "connection", "content-length", "content-type", "transfer-encoding", "te", "trailer", "upgrade",
        "expect",
        "accept-encoding", "cookie", "idempotency-key", "nexus-user", "nexus-role", "nexus-conversation",
        "mcp-session-id", "mcp-protocol-version", "last-event-id",
    }
)  # fmt: skip
"""Headers that we set ourselves: they say how a request is sent, and for whom."""


def is_local(parts: SplitResult) -> bool:
    """Whether an address names this machine, without TLS."""
    return parts.scheme == "http" and parts.hostname in {"127.0.0.1", "localhost", "::1"}


def split_address(value: str) -> SplitResult:
    """Returns the parts of an address; empty parts if it is not an address."""
    try:
        return urlsplit(value)
    except ValueError:
        return SplitResult("", "", "", "", "")


def endpoint(value: str) -> str:
    """Returns an address that a company supplied, checked; raises ValueError."""
    parts = split_address(value)
    if not (parts.scheme == "https" or is_local(parts)) or not parts.hostname:
        raise ValueError("use an https address such as https://www.example.com/path")
    if parts.username or parts.password or parts.fragment or not _PLAIN.fullmatch(value):
        raise ValueError("use an address with no user, password or fragment, in plain ASCII with no blanks")
    return value


def address_arguments(url: str) -> list[str]:
    """Returns the names of the arguments in an address: ``order`` in https://shop.example/orders/{order}."""
    return _PLACEHOLDER.findall(url)


def _templated(value: str) -> str:
    parts = urlsplit(endpoint(value))
    if "{" in parts.netloc or "{" in _PLACEHOLDER.sub("", value) or "}" in _PLACEHOLDER.sub("", value):
        raise ValueError(
            "write an argument's name in braces, behind the host alone: https://shop.example/orders/{order}"
        )
    return value


def _header(value: str) -> str:
    if value.lower() in _RESERVED_HEADERS or value.lower().startswith("proxy-"):
        raise ValueError(f"{value} cannot be set")
    return value


def _printable(value: str) -> str:
    if not value.isascii() or not value.isprintable():
        raise ValueError("a header's value is printable ASCII")
    return value


def _object_schema(value: dict[str, object], info: ValidationInfo) -> dict[str, object]:
    if not is_input(info):
        return value
    if value.get("type") != "object":
        raise ValueError('a tool\'s schema says "type": "object"')
    if value.get("additionalProperties", False) is not False:
        raise ValueError("additionalProperties can only be false")
    if len(json.dumps(value)) > MAX_SCHEMA_BYTES or is_nested_too_deep(value, _MAX_DEPTH):
        raise ValueError(f"a schema has at most {MAX_SCHEMA_BYTES} bytes and {_MAX_DEPTH} levels")
    check_cost(value)
    return value


def is_nested_too_deep(value: object, max_depth: int) -> bool:
    """Whether JSON is nested too deeply; checked without recursion."""
    level: list[object] = [value]
    for _ in range(max_depth):
        level = [inner for container in level for inner in _inside(container)]
        if not level:
            return False
    return True


def _inside(value: object) -> list[object]:
    if is_object(value):
        return list(value.values())
    return list_of(value)


ToolName = Annotated[str, Field(pattern=_NAME)]
Seconds = Annotated[StrictInt, Field(ge=1, le=30)]


class Header(Strict):
    """A header sent with every request. The value is a secret: it is stored sealed and never shown again."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$"), AfterValidator(_header)]
    value: Annotated[str, Field(min_length=1, max_length=8192), AfterValidator(_printable)]


Described = Annotated[
    str, Field(min_length=1, max_length=1024, description="what it does and when to use it"), WORDS_OF_SETTINGS
]
InputSchema = Annotated[
    dict[str, Any],
    AfterValidator(_object_schema),
    Field(description="JSON Schema 2020-12 of the arguments, an object"),
]
Confirmation = Annotated[
    StrictBool,
    Field(
        description="of what has side effects: nothing is done before the customer's yes, and visitors do not have it"
    ),
]
Headers = Annotated[list[Header], Field(max_length=10)]


class HttpTool(Strict):
    """A tool that is a request to the company's own API. Arguments named in the address go there; the others into
    the query of a GET, or the JSON body of any other method."""

    name: ToolName
    description: Described
    input_schema: InputSchema
    url: Annotated[str, Field(max_length=2048), AfterValidator(_templated)]
    method: Annotated[Literal["GET", "POST", "PUT", "PATCH", "DELETE"], OPEN_EXCEPT_INPUT] = "POST"
    headers: Headers = Field(default_factory=list[Header])
    side_effects: StrictBool = Field(default=False, description="it changes something: it is never made twice")
    confirmation: Confirmation = True
    timeout_seconds: Seconds = 10

    @model_validator(mode="after")
    def _places_are_arguments(self, info: ValidationInfo) -> "HttpTool":
        if is_input(info):
            required = list_of(self.input_schema.get("required"))
            missing = [name for name in address_arguments(self.url) if name not in required]
            if missing:
                raise ValueError(f"{', '.join(missing)}: what stands in the address is a required argument")
        return self


class McpTool(Strict):
    """A tool that was chosen from a server, as described at that time: later changes on the server have no effect."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]{1,47}$")]
    description: Described
    input_schema: InputSchema
    side_effects: StrictBool = Field(default=True, description="it changes something: it is never made twice")
    confirmation: Confirmation = True


class McpServer(Strict):
    """An MCP server (streamable HTTP) and the tools chosen from it, each called ``<server>_<tool>`` here."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9]{0,15}$")]
    url: Annotated[str, Field(max_length=2048), AfterValidator(endpoint)]
    headers: Headers = Field(default_factory=list[Header])
    tools: list[McpTool] = Field(default_factory=list[McpTool], max_length=40)
    timeout_seconds: Seconds = 10


class OwnTools(Strict):
    """A company's own tools, in addition to those of the catalogue."""

    http: list[HttpTool] = Field(default_factory=list[HttpTool], max_length=40)
    mcp: list[McpServer] = Field(default_factory=list[McpServer], max_length=10)

    @property
    def names(self) -> list[str]:
        """The names by which models call them, in order."""
        return [tool.name for tool in self.http] + [
            f"{server.name}_{tool.name}" for server in self.mcp for tool in server.tools
        ]

    @property
    def waiting(self) -> set[str]:
        """The tools whose calls wait for a customer's confirmation."""
        names = {tool.name for tool in self.http if tool.side_effects and tool.confirmation}
        return names | {
            f"{server.name}_{tool.name}"
            for server in self.mcp
            for tool in server.tools
            if tool.side_effects and tool.confirmation
        }

    @model_validator(mode="after")
    def _names_differ(self, info: ValidationInfo) -> "OwnTools":
        servers = [server.name for server in self.mcp]
        duplicates = {name for names in (self.names, servers) for name in names if names.count(name) > 1}
        if duplicates and is_input(info):
            raise ValueError(f"two have the name {', '.join(sorted(duplicates))}")
        if (reserved := AGENTS_TOOLS & set(self.names)) and is_input(info):
            raise ValueError(f"{', '.join(sorted(reserved))}: the assistant has a tool of this name; use another")
        return self
