"""/v2/analysis: begins market analyses, which run independently of the request, and returns them."""

import re
from typing import Annotated

import orjson
from fastapi import APIRouter, Header, Path, Response
from pydantic import Field, StrictBool, field_validator

from contracts.analysis_report import AnalysisReport
from contracts.envelope import Wire
from contracts.errors import ErrorCode
from contracts.events.analysis import (
    MAX_QUERY,
    MAX_TICKERS,
    AnalysisProblem,
    AnalysisRecord,
    AnalysisRequested,
    AnalysisStatus,
)
from contracts.ids import derive_id, uuid7
from contracts.languages import Language
from contracts.symbols import parse_symbol
from gateway.errors import RefusedError
from gateway.ports import TokenCaller
from gateway.web.deps import Api, ApiDep, CustomerDep, idempotency_key
from gateway.web.problems import described
from gateway.web.response_headers import described_headers
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/analysis", tags=["analysis"])

MAX_WAIT_SECONDS = 60
"""Seconds that a request waits at most, whatever it prefers."""
_WAIT = re.compile(r"(?:^|[,;])\s*wait\s*=\s*\"?(\d{1,6})\"?\s*(?=$|[,;])", re.IGNORECASE)


class AnalysisBody(Wire):
    """The query. `tickers`: instead of those named in it; `useLlm`: a model may choose tools and word the summary."""

    query: str = Field(min_length=1, max_length=MAX_QUERY)
    tickers: list[str] | None = Field(default=None, max_length=MAX_TICKERS)
    use_llm: StrictBool = False

    @field_validator("tickers")
    @classmethod
    def _symbols(cls, tickers: list[str] | None) -> list[str] | None:
        return None if tickers is None else list(dict.fromkeys(parse_symbol(symbol).name for symbol in tickers)) or None


class AnalysisView(Wire):
    """One analysis. `report` (snake_case) when it is done, `error` when it has failed."""

    id: str
    status: AnalysisStatus
    report: AnalysisReport | None = None
    error: AnalysisProblem | None = None


class AnalysisBegun(Wire):
    """Where the analysis is: Location."""

    id: str


Key = Annotated[
    str | None, idempotency_key("the same key again is the same analysis; with another question it is a CONFLICT")
]
Prefer = Annotated[
    str | None,
    Header(
        max_length=200, description=f"wait=N: the report when it is ready in N seconds ({MAX_WAIT_SECONDS} at most)"
    ),
]
_LOCATION = described_headers("Location")
_BEGUN: dict[int | str, dict[str, object]] = {
    200: {"model": AnalysisView, "description": "With Prefer: wait=N, and it is finished"} | _LOCATION,
    202: {"model": AnalysisBegun, "description": "It is begun"} | _LOCATION,
    **described(409),
}


@router.post("", status_code=202, response_model=AnalysisBegun, responses=_BEGUN)
async def begin_analysis(
    api: ApiDep,
    caller: CustomerDep,
    body: AnalysisBody,
    idempotency_key: Key = None,
    prefer: Prefer = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """Begins an analysis, which runs whether or not anybody waits; its report is kept for a week."""
    key = uuid7() if idempotency_key is None else derive_id("analysis", idempotency_key)
    language = await api.companies.language_for(caller.company, accept_language, body.query)
    record = await begin(api, caller, body, key, language)
    headers = {"Location": f"/v2/analysis/{key}"}
    seconds = _preferred_wait(prefer)
    if seconds is not None:
        headers["Preference-Applied"] = f"wait={seconds}"
        finished = record if record.status != "running" else await api.analyses.finished(caller, key, seconds)
        if finished is not None:
            return _view(finished, headers)
    return Response(orjson.dumps({"id": key}), 202, headers, media_type="application/json")


@router.get("/{analysisId}", response_model=AnalysisView, responses=described(404))
async def get_analysis(
    api: ApiDep,
    caller: CustomerDep,
    analysis_id: Annotated[str, Path(alias="analysisId", description="as POST /v2/analysis gave it")],
) -> Response:
    """One of my analyses, with its report once it is done. Another user's is not found."""
    return _view((await api.analyses.get(caller, analysis_id)).record, {})


async def begin(
    api: Api, caller: TokenCaller, body: AnalysisBody, analysis_id: str, language: Language | None
) -> AnalysisRecord:
    """The record of the analysis with this id; begins it if it is new. Raises RefusedError, UnavailableError."""
    if not body.query.strip():
        raise RefusedError(ErrorCode.EMPTY_TEXT, "query: ask something")
    if not await api.companies.trades(caller.company):
        raise RefusedError(ErrorCode.FORBIDDEN, "this company has no market analyses: its profile is support")
    request = AnalysisRequested(
        analysis_id=analysis_id,
        company_id=caller.company,
        user_id=caller.subject,
        principal=api.identity.principals.sign(caller, None, language),
        language=language,
        **dict(body),
    )
    record = await api.analyses.begin(request)
    if _question(record.request) != _question(request):
        raise RefusedError(ErrorCode.CONFLICT, "Idempotency-Key: it was used for another question; choose a new one")
    return record


def _question(request: AnalysisRequested) -> tuple[object, ...]:
    return request.query, request.tickers or [], request.use_llm


def _preferred_wait(prefer: str | None) -> int | None:
    """The preferred seconds to wait (RFC 7240). None without a valid preference, which the RFC says to ignore."""
    match = _WAIT.search(prefer or "")
    return min(int(match[1]), MAX_WAIT_SECONDS) if match else None


def _view(record: AnalysisRecord, headers: dict[str, str]) -> Response:
    view: dict[str, object] = {"id": record.request.analysis_id, "status": record.status}
    if record.report is not None:
        view["report"] = record.report
    if record.error is not None:
        view["error"] = record.error.to_wire()
    return Response(orjson.dumps(view), 200, headers, media_type="application/json")
