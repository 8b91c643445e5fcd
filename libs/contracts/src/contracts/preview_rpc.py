"""Trying settings before saving them, and explaining an answer; served by agents and executors."""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from contracts.company import ReadConfig, ReadToolConfig
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.chat import Citation, Usage
from contracts.events.tool import ToolResult
from contracts.ids import CompanyId, Id
from contracts.knowledge import Passage
from contracts.languages import Language
from contracts.own_tools import McpTool
from contracts.rpc import Rpc

TRY_SECONDS = 60.0
"""Maximum time for an answer."""

# ---------------------------------------------------------------- settings that are not saved


class PromptRequest(Wire):
    """Asks for the prompt that these settings would produce for a visitor. `principal`: that of the simulated
    visitor."""

    config: ReadConfig
    principal: str
    language: Language = "en"


class PromptLayer(Wire):
    """One layer of the prompt, in order."""

    name: Annotated[Literal["base", "brevity", "visitor", "tools"], OPEN]
    text: str


class PromptReply(Wire):
    """The layers before the conversation; `tokens` counts them and the tool definitions as the model will."""

    layers: list[PromptLayer]
    tools: list[str]
    tokens: int = Field(ge=0)


class TryRequest(Wire):
    """Answers one question of a visitor with these settings. Nothing is stored; the company pays for it."""

    config: ReadConfig
    principal: str
    question: str = Field(min_length=1, max_length=8000)
    language: Language = "en"


class TryReply(Wire):
    """The answer and how it came about. `tools`: the names of the calls that were made, in order."""

    text: str
    model: str
    provider: str
    tools: list[str]
    citations: list[Citation]
    usage: Usage


class SiteCheckRequest(Wire):
    """Asks whether fetch_page may read this page under these settings. `address`: a path of the site, or a whole
    address.

    `language`: of the reason.
    """

    tool_config: ReadToolConfig
    address: str = Field(min_length=1, max_length=2048)
    language: Language = "en"


class SiteCheckReply(Wire):
    """`url`: what would be fetched. `reason`: why not. No DNS lookup is made, and nothing is fetched."""

    allowed: bool
    url: str | None = None
    reason: str | None = None


class OwnToolRequest(Wire):
    """Calls one of the company's own tools under these settings, for somebody who edits them. The call is real."""

    config: ReadConfig
    tool: str = Field(max_length=64)
    arguments: dict[str, Any] = Field(default_factory=dict[str, Any])
    user_id: Id
    language: Language = "en"


class OwnToolReply(Wire):
    """The result, in the same form as for every call."""

    result: ToolResult


def _read_tool(sent: object) -> object:
    return McpTool.model_validate(sent, extra="allow")


ReadMcpTool = Annotated[McpTool, BeforeValidator(_read_tool)]


class McpToolsRequest(Wire):
    """Asks for the tools of an MCP server, one of the settings' `ownTools.mcp`."""

    config: ReadConfig
    server: str = Field(max_length=64)
    language: Language = "en"


class McpToolsReply(Wire):
    """The server's tools in the form of the settings, to choose from; `error` says why there are none."""

    tools: list[ReadMcpTool] = Field(default_factory=list[McpTool])
    error: str | None = None


class ModelCheckRequest(Wire):
    """Asks whether the model in these settings answers."""

    config: ReadConfig
    language: Language = "en"


class ModelCheckReply(Wire):
    """The model that was called and how long it took; `error` says why there is no answer."""

    provider: str
    model: str
    ms: int = Field(ge=0)
    text: str = ""
    error: str | None = None


# ---------------------------------------------------------------- an answer that was given


class TurnRequest(Wire):
    """One turn of a conversation; `user_id` is its visitor or customer (none: anonymous).

    `answered_at`: when its answer was stored; its record is found near that time.
    """

    company_id: CompanyId
    conversation_id: Id
    turn_id: Id
    user_id: str | None = None
    answered_at: datetime


class ExplainRequest(TurnRequest):
    """Asks why a turn was answered as it was."""


class ExplainedCall(Wire):
    """A tool call of the turn, with arguments as the model gave them. `code` says why it failed."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    success: bool
    code: str | None = None
    ms: float = Field(ge=0)
    cached: bool = False


class ExplainedTurn(Wire):
    """How a turn was answered. `discarded`: how often a newer message interrupted an answer.

    `cost` is by today's price list; None: it has no price for one of the models.
    """

    turn_id: Id
    outcome: Annotated[Literal["answered", "failed"], OPEN]
    failure: str | None = None
    model: str
    provider: str
    config_version: int = Field(ge=0)
    usage: Usage
    cost: float | None = None
    currency: str | None = None
    latency_ms: int = Field(ge=0)
    attempts: int = Field(ge=0)
    discarded: int = Field(ge=0)
    offered: list[str]
    calls: list[ExplainedCall]
    citations: list[Citation]
    passages: list[Passage] = Field(
        default_factory=list[Passage],
        description="in the prompt, in the order of their numbers",
    )
    started_at: datetime


class ExplainReply(Wire):
    """The turn; None if there is no record of it. Records are kept for 30 days."""

    turn: ExplainedTurn | None = None


PROMPT = Rpc("rpc.agent.try.prompt.v1", PromptRequest, PromptReply, queue="agent")
# Not safe to repeat: a model would be paid twice.
TRY = Rpc("rpc.agent.try.question.v1", TryRequest, TryReply, queue="agent", safe=False)
EXPLAIN = Rpc("rpc.agent.turn.explain.v1", ExplainRequest, ExplainReply, queue="agent")
SITE_CHECK = Rpc("rpc.tools.site.check.v1", SiteCheckRequest, SiteCheckReply, queue="tool-executor")
# Not safe to repeat: the tool would run twice.
OWN_TOOL_TRY = Rpc("rpc.tools.own.try.v1", OwnToolRequest, OwnToolReply, queue="tool-executor", safe=False)
MCP_TOOLS = Rpc("rpc.tools.own.mcp.v1", McpToolsRequest, McpToolsReply, queue="tool-executor", safe=False)
MODEL_CHECK = Rpc("rpc.agent.model.check.v1", ModelCheckRequest, ModelCheckReply, queue="agent", safe=False)
