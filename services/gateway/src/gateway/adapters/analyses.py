"""Analyses over the bus: started in the streams TURNS and FACTS, driven by any agent."""

from collections.abc import AsyncGenerator, Generator
from contextlib import contextmanager

import structlog

from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import is_id
from gateway.errors import UnavailableError, found, not_found
from gateway.ports import TokenCaller
from runtime.analyses import Analyses, StoredAnalysis
from runtime.errors import RuntimeLibraryError

log = structlog.get_logger(__name__)


class BusAnalyses:
    """The caller's own analyses; those of other users are not found. Each method raises UnavailableError if the bus
    does not answer in time."""

    def __init__(self, analyses: Analyses) -> None:
        self._analyses = analyses

    async def begin(self, request: AnalysisRequested) -> AnalysisRecord:
        """Starts the analysis if it is new, and returns its current state. The same `analysis_id` of the same user is
        the same analysis."""
        with _available():
            try:
                return await self._analyses.begin(request)
            except RuntimeLibraryError as error:
                log.warning("analysis.not_begun", analysis_id=request.analysis_id, error=str(error))
                raise

    async def get(self, caller: TokenCaller, analysis_id: str) -> StoredAnalysis:
        """The analysis in its current state; raises RefusedError (NOT_FOUND), also for another user's analysis."""
        if not is_id(analysis_id):
            raise not_found("analysis")
        with _available():
            return found(await self._analyses.read(caller.company, caller.subject, analysis_id, sure=True), "analysis")

    async def cancel(self, caller: TokenCaller, analysis_id: str) -> None:
        """Cancels the analysis if it runs."""
        with _available():
            await self._analyses.cancel(caller.company, caller.subject, analysis_id)

    async def follow(
        self, caller: TokenCaller, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """Yields the analysis now and after each change, up to its end, for at most `seconds`."""
        with _available():
            async for record in self._analyses.follow(caller.company, caller.subject, analysis_id, seconds):
                yield record

    async def finished(self, caller: TokenCaller, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """Waits until the analysis has finished and returns it; None if it has not finished after `seconds`."""
        with _available():
            return await self._analyses.finished(caller.company, caller.subject, analysis_id, seconds)


@contextmanager
def _available() -> Generator[None]:
    try:
        yield
    except RuntimeLibraryError as error:
        raise UnavailableError("analyses cannot be reached now: try again") from error
