"""Market analyses, as the routes ask for them (ports of the analysis routes alone)."""

from dataclasses import dataclass
from typing import Literal, Protocol

from contracts.events.analysis import AnalysisRecord
from gateway.ports import Caller


@dataclass(frozen=True, slots=True)
class AskedAnalysis:
    """One analysis; the same `analysis_id` of the same caller again is the same one."""

    analysis_id: str
    query: str
    tickers: tuple[str, ...] = ()
    use_llm: bool = False
    language: Literal["es", "en"] | None = None


class Analyses(Protocol):
    """Market analyses of the caller. Every method raises Unavailable when the bus does not answer in time."""

    async def begin(self, caller: Caller, asked: AskedAnalysis) -> AnalysisRecord:
        """The analysis as it is now, begun if it is new."""
        ...

    async def get(self, caller: Caller, analysis_id: str) -> AnalysisRecord:
        """The analysis as it is now; raises Refused (NOT_FOUND), for another user's too."""
        ...

    async def finished(self, caller: Caller, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """The analysis when it is finished within so many seconds; None when it is not."""
        ...
