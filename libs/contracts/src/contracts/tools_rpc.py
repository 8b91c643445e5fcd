"""What a service asks of the tool-executor that calls tools by itself, with no model that reads their descriptions; a
user's deletion there; and what the executor asks of a service whose tool has not answered in time."""

from enum import StrEnum
from typing import Any, Literal

from pydantic import Field

from contracts.company_rpc import CompanyRequest
from contracts.envelope import Wire
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
from contracts.rpc import Method, Rpc, ToolServiceRequest


class Category(StrEnum):
    """What a tool is about; also the last token of the subject on which calls are asked for."""

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
    """What a company has declared itself (contracts.own_tools)."""


class ToolDetailsRequest(Wire):
    """Everything about these tools (None: all of them), as far as this caller may use them."""

    company_id: CompanyId
    role: str
    plan: str = "free"
    language: str = "es"
    names: list[str] | None = Field(default=None, min_length=1, max_length=50)


class ToolDetails(Wire):
    """One tool; the schemas are JSON Schema 2020-12, the examples arguments that it takes."""

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
    """In the catalogue's own order; what the caller may not use is left out."""

    tools: list[ToolDetails]


class ToolOutcome(Wire):
    """What became of a call with side effects, by its id; to look changes nothing.

    done: it took effect, and `result` is the tool's data. not_done: it has not, so that the same id may be called; what
    is still on its way of an earlier attempt must not make a second effect. unknown: it cannot be said now.
    """

    state: Literal["done", "not_done", "unknown"]
    result: dict[str, Any] | None = None


def tool_outcome(subject: str, queue: str | None) -> Rpc[ToolServiceRequest, ToolOutcome]:
    """The method on which a service says what became of calls of its tools; asked with the call as it was made."""
    return Rpc(subject, ToolServiceRequest, ToolOutcome, queue=queue)


TOOL_OUTCOME = tool_outcome("rpc.tool.outcome.v1", "market-adapter")
"""Of the market-adapter's tools with side effects."""
MEMORY_OUTCOME = tool_outcome("rpc.tool.memory_outcome.v1", "memory")
"""Of memory's: remember, forget, update_memory."""


class FileTextRequest(Wire):
    """What does a file of the conversation say?"""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    language: Language = "es"
    most: int = Field(default=4_000, ge=1, le=100_000, description="characters")


class FileTextReply(Wire):
    """Without text `problem` says why, in words for people."""

    text: str = ""
    truncated: bool = False
    problem: str | None = None


class FilePieceRequest(Wire):
    """What stands in a picture of the conversation from this byte on?"""

    company_id: CompanyId
    conversation_id: Id
    file_id: Id
    offset: int = Field(default=0, ge=0)


PIECE = 600_000
"""Bytes of a picture in one reply: a message of the bus holds 1 MB. Pieces in base64 come together by being joined."""


class FilePieceReply(Wire):
    """At most PIECE bytes, in base64; empty: there are none, or it is no picture."""

    content: str = ""


FILE_PIECE = Rpc("rpc.tools.file.piece.v1", FilePieceRequest, FilePieceReply, queue="tool-executor")
FILE_TEXT = Rpc("rpc.tools.file.text.v1", FileTextRequest, FileTextReply, queue="tool-executor")
# Records of calls and results kept for the user alone; what counts against their limits stays until it expires.
# Deleting again what is gone is fine; UNAVAILABLE while Redis is away.
USER_FORGET = Rpc("rpc.tools.user.forget.v1", UserRef, ForgottenReply, queue="tool-executor")
# All of a company's keys, what counts against limits included.
COMPANY_FORGET = Rpc("rpc.tools.company.forget.v1", CompanyRequest, ForgottenReply, queue="tool-executor")
TOOL_DETAILS = Rpc("rpc.tools.details.v1", ToolDetailsRequest, ToolDetailsReply, queue="tool-executor")
# What waits for a customer's yes of a company's own tools; as the market-adapter has it of orders. A yes makes the call
# before it is answered: asked once, and what is repeated all the same is made once.
OWN_ACTION_DECIDE = Rpc(
    "rpc.tools.action.decide.v1", ActionDecideRequest, ActionReply, queue="tool-executor", safe=False
)
OWN_ACTIONS_PENDING = Rpc("rpc.tools.actions.pending.v1", UserRef, PendingActionsReply, queue="tool-executor")
OWN_ACTIONS_GET = Rpc("rpc.tools.actions.get.v1", ActionsRequest, ActionsReply, queue="tool-executor")

METHODS: tuple[Method, ...] = (
    TOOL_DETAILS,
    FILE_TEXT,
    FILE_PIECE,
    USER_FORGET,
    COMPANY_FORGET,
    TOOL_OUTCOME,
    MEMORY_OUTCOME,
    OWN_ACTION_DECIDE,
    OWN_ACTIONS_PENDING,
    OWN_ACTIONS_GET,
)
