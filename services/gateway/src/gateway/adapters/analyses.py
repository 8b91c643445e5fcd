"""Analyses over the bus: begun in TURNS and FACTS, driven by whichever agent takes them."""

from collections.abc import AsyncGenerator
from dataclasses import dataclass

import structlog

from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.ids import is_id
from contracts.languages import Language
from gateway.adapters.identity import CallerSigner
from gateway.errors import Unavailable, not_found
from gateway.ports import TokenCaller
from runtime.analyses import Analyses, KeptAnalysis
from runtime.errors import RuntimeFault

log = structlog.get_logger(__name__)

_AWAY = "analyses cannot be reached now: try again"


@dataclass(frozen=True, slots=True)
class AskedAnalysis:
    """One analysis; the same `analysis_id` of the same caller again is the same one."""

    analysis_id: str
    query: str
    tickers: tuple[str, ...] = ()
    use_llm: bool = False
    language: Language | None = None


class BusAnalyses:
    """The caller's own analyses; whoever's token it is, another's id is not found. Each method raises Unavailable when
    the bus does not answer in time."""

    def __init__(self, analyses: Analyses, principals: CallerSigner) -> None:
        self._analyses = analyses
        self._principals = principals

    async def begin(self, caller: TokenCaller, asked: AskedAnalysis) -> AnalysisRecord:
        """The analysis as it is now, begun if it is new."""
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
        except RuntimeFault as error:
            log.warning("analysis.not_begun", analysis_id=asked.analysis_id, error=str(error))
            raise Unavailable(_AWAY) from error

    async def get(self, caller: TokenCaller, analysis_id: str) -> KeptAnalysis:
        """The analysis as it is now; raises Refused (NOT_FOUND), for another user's too."""
        if not is_id(analysis_id):
            raise not_found("analysis")
        try:
            kept = await self._analyses.read(caller.company, caller.subject, analysis_id, sure=True)
        except RuntimeFault as error:
            raise Unavailable(_AWAY) from error
        if kept is None:
            raise not_found("analysis")
        return kept

    async def cancel(self, caller: TokenCaller, analysis_id: str) -> None:
        """Ends it, if it runs."""
        try:
            await self._analyses.cancel(caller.company, caller.subject, analysis_id)
        except RuntimeFault as error:
            raise Unavailable(_AWAY) from error

    async def follow(
        self, caller: TokenCaller, analysis_id: str, seconds: float
    ) -> AsyncGenerator[AnalysisRecord, None]:
        """The analysis as it is now and each time it has changed, up to its end, for at most `seconds`."""
        try:
            async for record in self._analyses.follow(caller.company, caller.subject, analysis_id, seconds):
                yield record
        except RuntimeFault as error:
            raise Unavailable(_AWAY) from error

    async def finished(self, caller: TokenCaller, analysis_id: str, seconds: float) -> AnalysisRecord | None:
        """The analysis when it is finished within so many seconds; None when it is not."""
        try:
            return await self._analyses.finished(caller.company, caller.subject, analysis_id, seconds)
        except RuntimeFault as error:
            raise Unavailable(_AWAY) from error
