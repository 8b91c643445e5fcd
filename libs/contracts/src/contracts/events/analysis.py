"""Market analyses: requested and completed in FACTS; the progress and the report of each is one value in TURNS.

analysis.requested.v1 ─► an agent drives it, step by step, in turn.analysis.v1 ─► analysis.completed.v1

The requester chooses `analysisId`: the same id again is the same analysis.
"""

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from contracts.enumerations import OPEN
from contracts.envelope import Wire
from contracts.ids import CompanyId, Id
from contracts.languages import Language

MAX_QUERY = 2000
MAX_TICKERS = 12
"""Tickers of one analysis: as many as a market tool takes in one call."""

AnalysisStatus = Annotated[Literal["running", "done", "failed"], OPEN]
AnalysisStage = Annotated[Literal["queued", "reading", "planning", "calling", "writing", "finished"], OPEN]
ModelStep = Annotated[Literal["tickers", "routing", "summary"], OPEN]


class AnalysisRequested(Wire):
    """Somebody asks for an analysis. `principal` proves who; it matches the company and user of the subject."""

    analysis_id: Id
    company_id: CompanyId
    user_id: Id
    query: str = Field(min_length=1, max_length=MAX_QUERY)
    tickers: list[str] | None = Field(default=None, max_length=MAX_TICKERS, description="None: those in the query")
    use_llm: bool = Field(default=False, description="a model may find tickers, choose tools and word the summary")
    principal: str | None = None
    language: Annotated[Language, OPEN] | None = Field(default=None, description="None: the language of the query")
    conversation_id: Id | None = Field(default=None, description="where it was asked for, in a chat")


class AnalysisProblem(Wire):
    """Why an analysis failed; `message` says what to do."""

    code: str
    message: str


class AnalysisCompleted(Wire):
    """An analysis has its report (status done; contracts.analysis_report), or has failed for good (failed)."""

    analysis_id: Id
    company_id: CompanyId
    user_id: Id
    status: Annotated[Literal["done", "failed"], OPEN]
    report: dict[str, Any] | None = None
    error: AnalysisProblem | None = None
    conversation_id: Id | None = None


class AnalysisReply(Wire):
    """One model reply of an analysis. `failure`: why there is no text."""

    step: ModelStep
    text: str | None = None
    failure: str | None = None
    model: str = ""
    provider: str = ""


class AnalysisCall(Wire):
    """One tool call of an analysis, for one or several tickers; `result` as the executor gave it (ToolResult)."""

    call_id: Id
    tool: str
    tickers: list[str]
    arguments: dict[str, Any] | None = Field(default=None, description="beside the tickers")
    again: bool = Field(default=False, description="the one more try after an answer that cannot be used")
    result: dict[str, Any] | None = None


class AnalysisRecord(Wire):
    """The stored state of one analysis, from which it continues after a crash; at the end it holds the report."""

    request: AnalysisRequested
    status: AnalysisStatus = "running"
    stage: AnalysisStage = "queued"
    asked_at: datetime
    deadline: datetime | None = Field(default=None, description="after which no more is begun")
    openings: int = Field(default=0, ge=0, description="how often an agent began or went on with it")
    tickers: list[str] = Field(default_factory=list[str])
    planned: bool = False
    replies: list[AnalysisReply] = Field(default_factory=list[AnalysisReply])
    calls: list[AnalysisCall] = Field(default_factory=list[AnalysisCall])
    notes: list[str] = Field(default_factory=list[str], description="limitations so far")
    report: dict[str, Any] | None = None
    error: AnalysisProblem | None = None
