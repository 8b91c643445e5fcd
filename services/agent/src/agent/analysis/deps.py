"""The dependencies of analyses, in addition to those of turns."""

from dataclasses import dataclass
from typing import Protocol

from agent.adapters.analysis_facts import AnalysisFacts
from agent.adapters.json_schemas import JsonSchemas
from agent.adapters.market_state import MarketState
from agent.adapters.tool_details import ExecutorTools
from agent.llm.paid_calls import Spending
from agent.ports import BusClock, Companies, Models, ToolCalls
from contracts.events.analysis import AnalysisRecord
from runtime.analyses import StoredAnalysis
from runtime.auth.principals import Verify


class AnalysisStore(Protocol):
    """The one stored value of each analysis."""

    async def read(self, company: str, user: str, analysis_id: str) -> StoredAnalysis | None:
        """Returns the value and its revision, or None; raises ReadFailedError."""
        ...

    async def save(self, record: AnalysisRecord, revision: int) -> int | None:
        """Returns the new revision; None if another value was stored first, or if the outcome is unknown."""
        ...


@dataclass(frozen=True)
class AnalysisPorts:
    """The outside services that an analysis uses."""

    store: AnalysisStore
    outcomes: AnalysisFacts
    tools: ExecutorTools
    market: MarketState
    calls: ToolCalls
    schemas: JsonSchemas
    companies: Companies
    models: Models
    spending: Spending
    clock: BusClock
    verify: Verify


@dataclass(frozen=True)
class AnalysisLimits:
    """`max_tool_calls`: counted per tool and ticker. In seconds: the whole analysis, a `model` call, a `tool` call."""

    max_tool_calls: int = 12
    default_tickers: tuple[str, ...] = ()
    seconds: float = 120.0
    model: float = 40.0
    tool: float = 45.0
