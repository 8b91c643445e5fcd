"""The dependencies of analyses, in addition to those of turns."""

from dataclasses import dataclass
from typing import Protocol

from agent.adapters.analysis_facts import AnalysisFacts
from agent.adapters.json_schemas import JsonSchemas
from agent.adapters.market_symbols import MarketSymbols
from agent.adapters.tool_details import ExecutorTools
from agent.llm.paid_calls import Spending
from agent.ports import BusClock, Companies, Models, ToolCalls
from contracts.events.analysis import AnalysisRecord
from runtime.analyses import StoredAnalysis
from runtime.auth.principals import Verify


class AnalysisStore(Protocol):
    """The one value of each analysis."""

    async def read(self, company: str, user: str, analysis_id: str) -> StoredAnalysis | None:
        """The value and its revision; raises ReadFailedError."""
        ...

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """The new revision; None when another value is there already, or it is unknown whether this one is."""
        ...


@dataclass(frozen=True)
class AnalysisPorts:
    """Everything that an analysis needs from outside."""

    store: AnalysisStore
    outcomes: AnalysisFacts
    tools: ExecutorTools
    market: MarketSymbols
    calls: ToolCalls
    schemas: JsonSchemas
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
