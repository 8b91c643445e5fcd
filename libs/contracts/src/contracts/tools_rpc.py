"""What a service asks of the tool-executor that calls tools by itself, with no model that reads their descriptions; and
a user's deletion there."""

from enum import StrEnum
from typing import Any

from pydantic import Field

from contracts.envelope import Wire
from contracts.ids import CompanyId
from contracts.market_rpc import ForgottenReply
from contracts.memory_rpc import UserRef
from contracts.rpc import Rpc


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
    SITE = "site"


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


# Records of calls, results kept for the user alone, and what counts against their limits. Deleting again what is gone
# is fine; UNAVAILABLE while Redis is away.
USER_FORGET = Rpc("rpc.tools.user.forget.v1", UserRef, ForgottenReply, queue="tool-executor")
TOOL_DETAILS = Rpc("rpc.tools.details.v1", ToolDetailsRequest, ToolDetailsReply, queue="tool-executor")

METHODS: tuple[Rpc[Any, Any], ...] = (TOOL_DETAILS, USER_FORGET)
