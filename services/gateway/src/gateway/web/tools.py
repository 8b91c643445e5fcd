"""/v2/tools: the catalogue of the caller's plan with remaining quotas, and tool calls."""

import math
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from contracts.envelope import Wire
from contracts.errors import ToolCode
from contracts.events.tool import ToolError, ToolMetadata, ToolResult
from contracts.ids import derive_id, is_id, uuid7
from contracts.tools_rpc import CatalogueReply, Category
from gateway.ports import GatewayToolCall, ToolAnswer
from gateway.texts import TEXTS
from gateway.web.deps import ApiDep, CustomerDep, idempotency_key
from gateway.web.free_json import check_json
from gateway.web.problems import described
from gateway.web.words import AcceptLanguage

router = APIRouter(prefix="/v2/tools", tags=["tools"])

STATUS: dict[str, int] = {
    ToolCode.TOOL_NOT_FOUND: 404,
    ToolCode.PLAN_REQUIRED: 403,
    ToolCode.RATE_LIMIT: 429,
    ToolCode.VALIDATION_ERROR: 422,
    ToolCode.CONFLICT: 409,
    ToolCode.EXECUTION_ERROR: 502,
    ToolCode.INVALID_OUTPUT: 502,
    ToolCode.UNKNOWN_OUTCOME: 502,
    ToolCode.UNAVAILABLE: 503,
    ToolCode.TIMEOUT: 504,
    ToolCode.UNAUTHORIZED: 401,
}
_RETRY_SECONDS = 2
"""Seconds of Retry-After if a dependency is unavailable."""


class CallBody(Wire):
    """The arguments of one call, snake_case."""

    arguments: dict[str, object] = Field(default_factory=dict[str, object])


Key = Annotated[
    str | None, idempotency_key("the same key again gives the recorded result; with other arguments it is a CONFLICT")
]
_PROBLEMS = described()
_RESULTS: dict[int | str, dict[str, object]] = {
    413: _PROBLEMS[413],
    **{status: {"model": ToolResult, "description": "The result"} for status in sorted(set(STATUS.values()))},
    **{
        status: _PROBLEMS[status] | {"model": ToolResult, "description": "The result, or who may call and when"}
        for status in (401, 403, 503)
    },
}


@router.get("", response_model_exclude_none=True, responses=described())
async def list_tools(
    api: ApiDep,
    caller: CustomerDep,
    category: Annotated[Category | None, Query(description="these tools alone")] = None,
    accept_language: AcceptLanguage = None,
) -> CatalogueReply:
    """The tools of my plan, each with what is left of its limits and when its oldest call leaves the window."""
    language = await api.companies.language_for(caller.company, accept_language)
    tools = await api.tools.catalogue(caller, language)
    return CatalogueReply(tools=[tool for tool in tools if category in (None, tool.category)])


@router.post("/{name}", response_model=ToolResult, responses=_RESULTS)
async def call_tool(
    api: ApiDep,
    caller: CustomerDep,
    name: Annotated[str, Path(description="the tool's name, as GET /v2/tools lists it")],
    body: CallBody,
    idempotency_key: Key = None,
    accept_language: AcceptLanguage = None,
) -> Response:
    """One call. The body is the result, whatever came of it."""
    check_json(body.arguments)
    language = await api.companies.language_for(caller.company, accept_language)
    if not is_id(name):
        error = ToolError(code=ToolCode.TOOL_NOT_FOUND, message=TEXTS["tool.no_such_tool"].in_language(language))
        result = ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0))
        return _response(ToolAnswer(result, {}), 0)
    # The key may be any text, but a call id becomes part of subjects and names. Both belong to the caller.
    call_id = uuid7() if idempotency_key is None else derive_id("idempotency-key", idempotency_key)
    tool_call = GatewayToolCall(call_id, name, body.arguments, language)
    return _response(await api.tools.call(caller, tool_call), api.clock.now().timestamp())


def _response(answer: ToolAnswer, now: float) -> Response:
    result, error = answer.result, answer.result.error
    status = 200 if error is None else STATUS.get(str(error.code), 502)
    headers: dict[str, str] = {}
    if status == 503:
        headers["Retry-After"] = str(_RETRY_SECONDS)
    elif status == 429 and error is not None and error.reset_at is not None:
        headers["Retry-After"] = str(_seconds_until(error.reset_at, now))
    if answer.nearest is not None:
        _, nearest = answer.nearest
        headers["RateLimit-Limit"] = str(nearest.limit)
        headers["RateLimit-Remaining"] = str(nearest.remaining)
        headers["RateLimit-Reset"] = str(_seconds_until(nearest.reset_at, now))
    return Response(result.to_json(), status, headers, media_type="application/json")


def _seconds_until(reset_at: int, now: float) -> int:
    return max(math.ceil(reset_at / 1000 - now), 1)
