"""`market_analysis` over MCP. A client that supports tasks gets a handle at once and polls; others wait and receive
progress. It is an analysis as in /v2/analysis: kept for a week, and continued if an agent dies."""

from collections.abc import Mapping

import anyio
import mcp_types as types
from pydantic import ValidationError

from contracts.errors import ErrorCode
from contracts.events.analysis import MAX_QUERY, MAX_TICKERS, AnalysisRecord
from contracts.ids import derive_id, uuid7
from contracts.languages import Language
from contracts.streams import TURNS
from gateway.doors.mcp.offer import Context, caller_of, language_of
from gateway.doors.mcp.results import invalid_arguments, refusal, success, tool_result, unavailable_error
from gateway.doors.mcp.tasks import Json, accepts_tasks
from gateway.errors import GatewayError, RefusedError, UnavailableError
from gateway.ports import TokenCaller
from gateway.texts import TEXTS
from gateway.web.analysis import AnalysisBody, begin
from gateway.web.deps import Api
from runtime.analyses import CANCELLED, StoredAnalysis

NAME = "market_analysis"
WAIT_SECONDS = 150.0
"""Seconds for which a client without tasks waits; an analysis always ends earlier."""
CANCEL_SECONDS = 5.0
"""Deadline for cancelling an analysis whose client has disconnected."""
POLL_MS = 1_000
_STAGES = ("queued", "reading", "planning", "calling", "writing", "finished")
_PARAMETERS: Json = {
    "type": "object",
    "properties": {
        "query": {"type": "string", "minLength": 1, "maxLength": MAX_QUERY, "description": "The question in words"},
        "tickers": {
            "type": ["array", "null"],
            "items": {"type": "string"},
            "maxItems": MAX_TICKERS,
            "description": "Instead of those that the question names",
        },
        "use_llm": {"type": ["boolean", "null"], "description": "A model may choose the data and word the summary"},
    },
    "required": ["query"],
    "additionalProperties": False,
}


class McpAnalyses:
    """The tool and its calls, which are tasks (tasks.TaskHandlers)."""

    def __init__(self, api: Api) -> None:
        self._api = api

    async def list_tools(self, caller: TokenCaller, language: Language) -> list[types.Tool]:
        """The tool, if the company has analyses; else none."""
        if not await self._api.companies.trades(caller.company):
            return []
        return [
            types.Tool(
                name=NAME,
                description=TEXTS["analysis.description"].in_language(language),
                input_schema=_PARAMETERS,
                annotations=types.ToolAnnotations(read_only_hint=True, open_world_hint=True),
            )
        ]

    async def call(
        self, context: Context, arguments: Mapping[str, object], key: str | None
    ) -> types.CallToolResult | Json:
        """Starts an analysis; returns its result, or a handle if the client supports tasks. Calls with the same `key`
        are the same analysis."""
        analysis_id = uuid7() if key is None else derive_id("analysis", key)
        try:
            body = AnalysisBody.model_validate({name: value for name, value in arguments.items() if value is not None})
            language = await language_of(context, body.query)
            await begin(self._api, caller_of(context), body, analysis_id, language)
            if not accepts_tasks(context):
                return await self._wait_for_result(context, analysis_id, language, is_repeatable=key is not None)
            analysis = await self._api.analyses.get(caller_of(context), analysis_id)
            return {**_handle(analysis, language), "resultType": "task"}
        except ValidationError as error:
            return invalid_arguments(error)
        except GatewayError as error:
            return refusal(str(error.code), error.message)

    async def get(self, context: Context, task_id: str) -> Json | None:
        """The progress of an analysis, and finally its report; None if there is no such analysis."""
        analysis = await self._find(context, task_id)
        return None if analysis is None else _task(analysis, await language_of(context, analysis.record.request.query))

    async def update(self, context: Context, task_id: str, responses: Mapping[str, object]) -> bool:
        """Ignores the input, since an analysis never asks its client anything; returns whether the analysis exists."""
        del responses
        return await self._find(context, task_id) is not None

    async def cancel(self, context: Context, task_id: str) -> bool:
        """Cancels an analysis, whose driver stops at the next step; returns whether it exists."""
        if await self._find(context, task_id) is None:
            return False
        try:
            await self._api.analyses.cancel(caller_of(context), task_id)
        except UnavailableError as error:
            raise unavailable_error(error) from error
        return True

    async def _find(self, context: Context, task_id: str) -> StoredAnalysis | None:
        try:
            return await self._api.analyses.get(caller_of(context), task_id)
        except RefusedError as error:
            if error.code is not ErrorCode.NOT_FOUND:
                raise
            return None
        except UnavailableError as error:
            raise unavailable_error(error) from error

    async def _wait_for_result(
        self, context: Context, analysis_id: str, language: Language, *, is_repeatable: bool
    ) -> types.CallToolResult:
        """Waits for the result. If the call is not repeatable, the analysis is cancelled when the client disconnects:
        "The server MUST treat a client disconnect as cancellation of that request"."""
        try:
            return await self._report_progress(context, analysis_id, language)
        except anyio.get_cancelled_exc_class():
            if not is_repeatable:
                with anyio.move_on_after(CANCEL_SECONDS, shield=True):
                    await self._api.analyses.cancel(caller_of(context), analysis_id)
            raise

    async def _report_progress(self, context: Context, analysis_id: str, language: Language) -> types.CallToolResult:
        reported = 0
        await context.session.report_progress(0, len(_STAGES) - 1, _stage_text("queued", language))
        async for record in self._api.analyses.follow(caller_of(context), analysis_id, WAIT_SECONDS):
            if record.status != "running":
                return _result(record)
            stage = _STAGES.index(record.stage)
            if stage > reported:
                reported = stage
                await context.session.report_progress(stage, len(_STAGES) - 1, _stage_text(record.stage, language))
        raise UnavailableError(f"the analysis goes on: GET /v2/analysis/{analysis_id}")


def _stage_text(name: str, language: Language) -> str:
    """A text that says what is done in a stage; a newer release's unknown stage is described like the first."""
    return TEXTS[f"analysis.stages.{name if name in _STAGES else _STAGES[0]}"].in_language(language)


def _handle(analysis: StoredAnalysis, language: Language) -> Json:
    """The extension's Task: its status, without a result."""
    record = analysis.record
    status = "working" if record.status == "running" else "completed"
    message = _stage_text(record.stage, language)
    if record.error is not None and record.error.code == CANCELLED:
        status, message = "cancelled", record.error.message
    return {
        "taskId": record.request.analysis_id,
        "status": status,
        "statusMessage": message,
        "createdAt": record.asked_at.isoformat(),
        "lastUpdatedAt": analysis.saved_at.isoformat(),
        "ttlMs": int(TURNS.max_age * 1000),
        "pollIntervalMs": POLL_MS,
    }


def _task(analysis: StoredAnalysis, language: Language) -> Json:
    """The analysis as a DetailedTask; a failure of the tool itself is a result too."""
    handle = _handle(analysis, language)
    if handle["status"] != "completed":
        return handle
    return {**handle, "result": _result(analysis.record).model_dump(by_alias=True, mode="json", exclude_none=True)}


def _result(record: AnalysisRecord) -> types.CallToolResult:
    if record.error is not None:
        return refusal(record.error.code, record.error.message)
    return tool_result(success(record.report or {}))
