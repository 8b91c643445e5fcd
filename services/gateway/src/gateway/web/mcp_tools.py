"""tools/list and tools/call of MCP over the gateway's own ports.

A refusal of the executor is a result with `isError` that tells its code, so that a model can do better; an unknown tool
is an error of the protocol, as MCP has it. An order that waits for its yes asks the client's user for it, where the
client can show a form: in mid-call, or (2026-07-28) with a result upon which the client calls again, with the answer
and what we have sealed for it.
"""

from collections.abc import Mapping
from typing import Any, cast

import mcp_types as types
import structlog
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import Request

from contracts.errors import ErrorCode, ToolCode
from contracts.events.chat import Action, ActionState
from contracts.events.tool import ToolError, ToolMetadata, ToolResult
from contracts.ids import derive_id, is_id, uuid7
from contracts.languages import spoken_language
from gateway.errors import GatewayError, Unavailable
from gateway.ports import GatewayToolCall, TokenCaller
from gateway.web.deps import Api
from gateway.web.mcp_confirmation import (
    PendingAction,
    answer_in,
    decision_in,
    edits_in,
    form,
    in_a_result,
    in_the_tools_words,
    waiting_in,
)
from gateway.web.mcp_offer import Offer, caller_of
from gateway.web.mcp_results import described, told

log = structlog.get_logger(__name__)
Context = ServerRequestContext[Any, Any]
LIST_FRESH_MS = 60_000
"""For so long a client may keep the list of tools: it changes with a plan, a setting or a service that announces."""
_INSTRUCTIONS = (
    "Market data, analysis, education, alerts, a watchlist and a paper portfolio of the user whose token this is. "
    "Orders are paper orders; none is placed before its user has confirmed it."
)


class McpTools:
    """What the SDK calls."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def offer(self) -> Offer:
        """What the product offers: the tools, and nothing else of the protocol."""
        return Offer(
            instructions=_INSTRUCTIONS,
            handlers={"on_list_tools": self.list_tools, "on_call_tool": self.call_tool},
            cache_hints={"tools/list": CacheHint(ttl_ms=LIST_FRESH_MS, scope="private")},
        )

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools of the caller's plan in the catalogue's own order, the same each time; one page."""
        del params
        try:
            tools = await self._api.tools.details(caller_of(context), _language(context))
        except Unavailable as error:
            raise MCPError(code=types.INTERNAL_ERROR, message=error.message, data={"code": str(error.code)}) from error
        return types.ListToolsResult(tools=[described(tool) for tool in tools])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
        """One call; with the same idempotency key again it is the same call."""
        caller, language = caller_of(context), _language(context)
        if params.request_state is not None:
            waiting = PendingAction.read(params.request_state)
            return await self._decide(caller, waiting, answer_in(params.input_responses), language)
        if not is_id(params.name):
            raise unknown_tool(params.name)
        key = _idempotency_key(context.params)
        call_id = uuid7() if key is None else derive_id("idempotency-key", key)
        result = await self._api.tools.call(
            caller, GatewayToolCall(call_id, params.name, params.arguments or {}, language)
        )
        if result.error is not None and result.error.code == ToolCode.TOOL_NOT_FOUND:
            raise unknown_tool(params.name)
        waiting = waiting_in(result.data)
        if waiting is None or not _asks_its_user(context):
            return told(result, await self._limit(caller, params.name))
        question = form(waiting, language)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return in_a_result(waiting, question)
        return await self._decide(caller, waiting, await _answered(context, question), language)

    async def _decide(
        self, caller: TokenCaller, waiting: PendingAction, answer: types.ElicitResult | None, language: str
    ) -> types.CallToolResult:
        """What the client's user said is done; a second word on the same action changes nothing."""
        decision = decision_in(answer)
        if decision is None:
            return told(_done(waiting.data))
        edits = edits_in(waiting, answer) if decision == "confirm" else None
        decide = self._api.actions.decide
        try:
            action = await decide(caller.company, caller.subject, waiting.action, decision, language, edits)
        except GatewayError as error:
            code = ToolCode.UNAVAILABLE if error.code == ErrorCode.UNAVAILABLE else str(error.code)
            return told(_failed(code, error.message))
        changed = in_the_tools_words(edits or {}) if action.state is ActionState.CONFIRMED else {}
        return told(_done(_decided(waiting.data, action, changed)), failed=action.state is ActionState.FAILED)

    async def _limit(self, caller: TokenCaller, name: str) -> dict[str, Any] | None:
        """What is left of the limit that is nearest to its end."""
        tool = await self._api.tools.quota(caller, name)
        if tool is None or not tool.quota:
            return None
        window, nearest = min(tool.quota.items(), key=lambda pair: pair[1].remaining)
        return {"window": window, **nearest.to_wire()}


def _done(data: dict[str, Any]) -> ToolResult:
    return ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=0.0))


def _failed(code: ToolCode | str, message: str) -> ToolResult:
    error = ToolError(code=code, message=message)
    return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0))


def _decided(data: dict[str, Any], action: Action, changed: dict[str, Any]) -> dict[str, Any]:
    """The call's data as they are after the decision. `changed`: what it has changed of the order."""
    decided = {**data, "status": action.state.value}
    order = data.get("order")
    if isinstance(order, dict):
        told = action.details.get("status")
        decided["order"] = {**order, "status": told if isinstance(told, str) else action.state.value, **changed}
    if changed:
        decided["summary"] = action.summary
    return decided


def unknown_tool(name: str) -> MCPError:
    """What a call of a tool that is not there gets."""
    return MCPError(
        code=types.INVALID_PARAMS, message=f"Unknown tool: {name[:128]}", data={"code": ToolCode.TOOL_NOT_FOUND.value}
    )


def _asks_its_user(context: Context) -> bool:
    """Whether the client can put a form before its user."""
    form_shown = types.ClientCapabilities(elicitation=types.ElicitationCapability())
    return context.session.check_client_capability(form_shown)


async def _answered(context: Context, question: types.ElicitRequestFormParams) -> types.ElicitResult | None:
    """What the user says in mid-call; None: nothing that counts, or nothing in time."""
    try:
        return await context.session.elicit_form(question.message, question.requested_schema, context.request_id)
    except (MCPError, ValidationError) as error:
        log.info("mcp.question_unanswered", reason=str(error)[:200])
        return None


def _language(context: Context) -> str:
    return spoken_language(cast("Request", context.request).headers.get("accept-language"))


def _idempotency_key(params: Mapping[str, Any] | None) -> str | None:
    """`idempotencyKey` in `_meta`, with a prefix or without; raises MCPError when it is none."""
    meta = (params or {}).get("_meta")
    for name, value in cast("dict[str, Any]", meta if isinstance(meta, dict) else {}).items():
        if name.rpartition("/")[2].replace("-", "").replace("_", "").lower() != "idempotencykey":
            continue
        if not isinstance(value, str) or not 1 <= len(value) <= 255:
            raise MCPError(code=types.INVALID_PARAMS, message=f"_meta: {name} must be a text of 1 to 255 characters")
        return value
    return None
