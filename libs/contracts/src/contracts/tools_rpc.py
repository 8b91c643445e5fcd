"""Calls around tools: the catalogue, calls without a model, a user's deletion in the tool-executor, and the executor's
own calls to services that serve a tool."""

from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.company_rpc import CompanyRequest
from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.events.tool import QuotaView
from contracts.ids import CompanyId, Id
from contracts.languages import Language
from contracts.market_rpc import (
    ActionDecideRequest,
    ActionReply,
    ActionsReply,
    ActionsRequest,
    ForgottenReply,
    PendingActionsReply,
)
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc


class Category(StrEnum):
    """The subject matter of a tool; also the last token of the subject for its calls."""

    MARKET = "market"
    PORTFOLIO = "portfolio"
    NEWS = "news"
    ML = "ml"
    TRADING = "trading"
    ALERTS = "alerts"
    CALCULATE = "calculate"
    EDUCATION = "education"
    MEMORY = "memory"
    KNOWLEDGE = "knowledge"
    SITE = "site"
    OWN = "own"
    """Tools that a company has declared itself (contracts.own_tools)."""


class Caller(Wire):
    """The caller as verified by the executor: neither the model nor the arguments can name somebody else. `prompt`: the
    first and last sequence of the messages that the prompt contains in full. `said`: what the user wrote, oldest first,
    where no conversation keeps it."""

    company_id: CompanyId
    user_id: Id | None = None
    role: str
    plan: str
    language: str = "es"
    conversation_id: Id | None = None
    prompt: tuple[int, int] | None = None
    said: list[str] | None = None


class ToolServiceRequest(Wire):
    """The executor calls a tool of another service. After its Nexus-Deadline the call must not change anything."""

    call_id: Id
    tool: str
    arguments: dict[str, Any]
    caller: Caller


class ToolServiceData(Wire):
    """The tool's data, snake_case inside."""

    result: dict[str, Any]


def tool_service(name: str, queue: str, *, safe: bool = False) -> Rpc[ToolServiceRequest, ToolServiceData]:
    """Returns the method by which a service serves the tool `name`. Errors carry a `reason` (e.g. not_in_sample).
    `safe`: the tool has no side effects, so the call may be repeated."""
    return Rpc(f"rpc.tool.{name}.v1", ToolServiceRequest, ToolServiceData, queue=queue, safe=safe)


class CatalogueRequest(Wire):
    """Asks for the tools that this caller may use. `name`: only this tool. `with_quota`: also how many calls are left
    to `user_id`."""

    company_id: CompanyId
    role: str
    plan: str = "free"
    language: str = "es"
    user_id: Id | None = None
    name: str | None = Field(default=None, max_length=128)
    with_quota: bool = False


class CatalogueTool(Wire):
    """One tool as every interface shows it; `parameters` is JSON Schema."""

    id: str
    name: str
    description: str
    category: str
    required_plan: str
    parameters: dict[str, Any]
    side_effects: bool = False
    label: str | None = Field(default=None, description="what a person reads while it runs")
    quota: dict[Annotated[Literal["minute", "hour", "day"], OPEN], QuotaView] | None = Field(
        default=None, description="by window; left out when it was not asked for, or cannot be known now"
    )


class CatalogueReply(Wire):
    """The tools in the order of the catalogue, which is always the same."""

    tools: list[CatalogueTool]


CATALOGUE = Rpc("rpc.tools.catalogue.v1", CatalogueRequest, CatalogueReply, queue="tool-executor")


class ToolDetailsRequest(Wire):
    """Everything about these tools (None: all), as far as this caller may use them."""

    company_id: CompanyId
    role: str
    plan: str = "free"
    language: str = "es"
    names: list[str] | None = Field(default=None, min_length=1, max_length=50)


class ToolDetails(Wire):
    """One tool; the schemas are JSON Schema 2020-12, the examples valid arguments."""

    name: str
    category: str
    description: str
    parameters: dict[str, Any]
    output_schema: dict[str, Any]
    examples: list[dict[str, Any]]
    budget_per_ticker: int = Field(ge=0, description="calls for one ticker in one analysis")
    required_plan: str = "free"
    side_effects: bool = False
    destructive: bool = Field(default=False, description="takes something away that was there")
    idempotent: bool = Field(default=False, description="the same call again changes nothing more")


class ToolDetailsReply(Wire):
    """The tools that the caller may use, in the order of the catalogue."""

    tools: list[ToolDetails]


class ToolOutcome(Wire):
    """The outcome of a call with side effects, by its id. Asking changes nothing.

    done: it took effect, and `result` is the tool's data. not_done: it did not, so the same id may be called again; an
    earlier attempt still on its way must not have a second effect. unknown: it cannot be determined now.
    """

    state: Literal["done", "not_done", "unknown"]
    result: dict[str, Any] | None = None


def tool_outcome(subject: str, queue: str | None) -> Rpc[ToolServiceRequest, ToolOutcome]:
    """Returns the method by which a service reports the outcome of a call of its tools; the request is the original
    call."""
    return Rpc(subject, ToolServiceRequest, ToolOutcome, queue=queue)


TOOL_OUTCOME = tool_outcome("rpc.tool.outcome.v1", "market-adapter")
"""Asks the market-adapter for the outcome of a call with side effects."""
MEMORY_OUTCOME = tool_outcome("rpc.tool.memory_outcome.v1", "memory")
"""Asks memory for the outcome of a call of remember, forget or update_memory."""


class FileTextRequest(Wire):
    """Asks for the text of a file of the conversation."""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    language: Language = "es"
    most: int = Field(default=4_000, ge=1, le=100_000, description="characters")


class FileTextReply(Wire):
    """The text of the file, or a `problem`: a sentence for people that says why there is none."""

    text: str = ""
    truncated: bool = False
    problem: str | None = None


class FilePieceRequest(Wire):
    """Asks for a picture of the conversation, from this byte on."""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    offset: int = Field(default=0, ge=0)


PIECE_BYTES = 600_000
"""Bytes of a picture in one reply; a message on the bus holds 1 MB. Pieces in base64 can simply be joined."""


class FilePieceReply(Wire):
    """A piece of a picture: at most PIECE bytes, in base64. Empty if there are no more, or the file is no picture."""

    content: str = ""


FILE_PIECE = Rpc("rpc.tools.file.piece.v1", FilePieceRequest, FilePieceReply, queue="tool-executor")
FILE_TEXT = Rpc("rpc.tools.file.text.v1", FileTextRequest, FileTextReply, queue="tool-executor")
# Deletes records of calls and results that are kept for this user alone; counters of limits stay until they expire.
USER_FORGET = Rpc("rpc.tools.user.forget.v1", UserRef, ForgottenReply, queue="tool-executor")
# Deletes all of a company's keys, including counters of limits.
COMPANY_FORGET = Rpc("rpc.tools.company.forget.v1", CompanyRequest, ForgottenReply, queue="tool-executor")
TOOL_DETAILS = Rpc("rpc.tools.details.v1", ToolDetailsRequest, ToolDetailsReply, queue="tool-executor")
# Actions of a company's own tools that wait for a customer's confirmation, like the market-adapter's orders.
OWN_ACTION_DECIDE = Rpc(
    "rpc.tools.action.decide.v1", ActionDecideRequest, ActionReply, queue="tool-executor", safe=False
)
OWN_ACTIONS_PENDING = Rpc("rpc.tools.actions.pending.v1", UserRef, PendingActionsReply, queue="tool-executor")
OWN_ACTIONS_GET = Rpc("rpc.tools.actions.get.v1", ActionsRequest, ActionsReply, queue="tool-executor")
