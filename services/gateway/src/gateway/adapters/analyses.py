"""Analyses over the bus: started in the streams TURNS and FACTS, driven by any agent."""

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
class AnalysisQuestion:
    """What an analysis is about. The same `analysis_id` of the same caller is the same analysis."""

    analysis_id: str
    query: str
    tickers: tuple[str, ...] = ()
    use_llm: bool = False
    language: Language | None = None


class BusAnalyses:
    """The caller's own analyses; those of other users are not found. Each method raises UnavailableError if the bus
    does not answer in time."""

    def __init__(self, analyses: Analyses, principals: CallerSigner) -> None:
        self._analyses = analyses
        self._principals = principals

    async def begin(self, caller: TokenCaller, question: AnalysisQuestion) -> AnalysisRecord:
        """Starts the analysis if it is new, and returns its current state."""
        request = AnalysisRequested(
            analysis_id=question.analysis_id,
            company_id=caller.company,
            user_id=caller.subject,
            query=question.query,
            tickers=list(question.tickers) if question.tickers else None,
            use_llm=question.use_llm,
            principal=self._principals.sign(caller, None, question.language),
            language=question.language,
        )
        try:
            return await self._analyses.begin(request)
        except RuntimeLibraryError as error:
            log.warning("analysis.not_begun", analysis_id=question.analysis_id, error=str(error))
            raise UnavailableError(_AWAY) from error

    async def get(self, caller: TokenCaller, analysis_id: str) -> StoredAnalysis:
        """The analysis in its current state; raises RefusedError (NOT_FOUND), also for another user's analysis."""
        if not is_id(analysis_id):
            raise not_found("analysis")
        try:
            analysis = await self._analyses.read(caller.company, caller.subject, analysis_id, sure=True)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error
        if analysis is None:
            raise not_found("analysis")
        return analysis

    async def cancel(self, caller: TokenCaller, analysis_id: str) -> None:
        """Cancels the analysis if it runs."""
        try:
            await self._analyses.cancel(caller.company, caller.subject, analysis_id)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error

    async def follow(
        self, caller: TokenCaller, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """Yields the analysis now and after each change, up to its end, for at most `seconds`."""
        try:
            async for record in self._analyses.follow(caller.company, caller.subject, analysis_id, seconds):
                yield record
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error

    async def finished(self, caller: TokenCaller, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """Waits until the analysis has finished and returns it; None if it has not finished after `seconds`."""
        try:
            return await self._analyses.finished(caller.company, caller.subject, analysis_id, seconds)
        except RuntimeLibraryError as error:
            raise UnavailableError(_AWAY) from error
