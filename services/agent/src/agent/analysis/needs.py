"""What analyses need from outside, beside what turns need."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from agent.domain.analysis.planning import ToolInfo
from agent.ports import Asker, BusClock, Companies, Models, ToolCalls
from agent.turns.paying import Spending
from contracts.events.analysis import AnalysisCompleted, AnalysisRecord
from runtime.analyses import KeptAnalysis
from runtime.principals import Verify


class AnalysisStore(Protocol):
    """The one value of each analysis."""

    async def read(self, company: str, user: str, analysis_id: str) -> KeptAnalysis | None:
        """The value and its revision; raises ReadFailed."""
        ...

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """The new revision; None when another value is there already, or it is unknown whether this one is."""
        ...


class Outcomes(Protocol):
    """Where finished analyses are told."""

    async def tell(self, outcome: AnalysisCompleted) -> None:
        """analysis.completed.v1, under an id of its own, so that a repeat is recognised; raises PublishFailed."""
        ...

    async def refuse(self, outcome: AnalysisCompleted) -> None:
        """The same of a request that cannot be read, under another id; raises PublishFailed."""
        ...


class Tools(Protocol):
    """The tools that an analysis may use."""

    async def details(self, company: str, asker: Asker) -> tuple[ToolInfo, ...]:
        """Those about tickers that the asker may use and that change nothing; raises UnreachableError."""
        ...


class Schemas(Protocol):
    """JSON Schema 2020-12."""

    def fits(self, schema: Mapping[str, Any], instance: Any) -> bool:
        """Whether a value fits; a schema that does not compile is fitted by nothing."""
        ...


@dataclass(frozen=True)
class AnalysisPorts:
    """Everything that an analysis needs from outside."""

    store: AnalysisStore
    outcomes: Outcomes
    tools: Tools
    calls: ToolCalls
    schemas: Schemas
    companies: Companies
    models: Models
    spending: Spending
    clock: BusClock
    verify: Verify


@dataclass(frozen=True)
class AnalysisLimits:
    """Calls counted per tool and ticker; seconds of an analysis, of one model call, of one tool call."""

    max_tool_calls: int = 12
    default_tickers: tuple[str, ...] = ()
    seconds: float = 120.0
    model: float = 40.0
    tool: float = 45.0
