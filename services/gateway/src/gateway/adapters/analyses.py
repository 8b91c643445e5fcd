"""Analyses over the bus: begun in TURNS and FACTS, driven by any agent."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import structlog

from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import is_id
from contracts.languages import Language
from gateway.adapters.identity import CallerSigner
from gateway.errors import UnavailableError, not_found
from gateway.ports import TokenCaller
from runtime.analyses import Analyses, StoredAnalysis
from runtime.errors import RuntimeLibraryError

log = structlog.get_logger(__name__)

_AWAY = "analyses cannot be reached now: try again"


@dataclass(frozen=True, slots=True)
class AskedAnalysis:
    """One analysis; the same `analysis_id` of the same caller is the same analysis."""

    analysis_id: str
    query: str
    tickers: tuple[str, ...] = ()
    use_llm: bool = False
    language: Language | None = None


class BusAnalyses:
    """The caller's own analyses; another user's id is not found. Each method raises UnavailableError if the bus
    does not answer in time."""

    def __init__(self, analyses: Analyses, principals: CallerSigner) -> None:
        self._analyses = analyses
        self._principals = principals

    async def begin(self, caller: TokenCaller, asked: AskedAnalysis) -> AnalysisRecord:
        """Begins the analysis if it is new, and returns it as it is now."""
        request = AnalysisRequested(
            analysis_id=asked.analysis_id,
            company_id=caller.company,
            user_id=caller.subject,
            query=asked.query,
            tickers=list(asked.tickers) if asked.tickers else None,
            use_llm=asked.use_llm,
            principal=self._principals.sign(caller, None, asked.language),
            language=asked.language,
        )
        try:
            return await self._analyses.begin(request)
        except RuntimeLibraryError as error:
            log.warning("analysis.not_begun", analysis_id=asked.analysis_id, error=str(error))
            raise UnavailableError(_AWAY) from error

    async def get(self, caller: TokenCaller, analysis_id: str) -> StoredAnalysis:
        """The analysis as it is now; raises RefusedError (NOT_FOUND), for another user's too."""
        if not is_id(analysis_id):
            raise not_found("analysis")
        try:
            kept = await self._analyses.read(caller.company, caller.subject, analysis_id, sure=True)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error
        if kept is None:
            raise not_found("analysis")
        return kept

    async def cancel(self, caller: TokenCaller, analysis_id: str) -> None:
        """Cancels it if it runs."""
        try:
            await self._analyses.cancel(caller.company, caller.subject, analysis_id)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error

    async def follow(
        self, caller: TokenCaller, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """The analysis now and after each change, up to its end, for at most `seconds`."""
        try:
            async for record in self._analyses.follow(caller.company, caller.subject, analysis_id, seconds):
                yield record
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error

    async def finished(self, caller: TokenCaller, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """The analysis, once it has finished within this many seconds; None if it has not."""
        try:
            return await self._analyses.finished(caller.company, caller.subject, analysis_id, seconds)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error
