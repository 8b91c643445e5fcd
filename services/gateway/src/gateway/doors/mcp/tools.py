"""MCP's tools/list and tools/call over the gateway's own ports.

A refusal by the executor is a result with `isError` and its code, so that a model can react; an unknown tool is a
protocol error, as MCP specifies. For a pending order the client's user is asked to confirm, if the client can show a
form: during the call, or (2026-07-28) in a result, after which the client calls again with the answer and our sealed
data. If the client shows views instead, the order's card asks (views.py).
"""

from collections.abc import Mapping

import mcp_types as types
import structlog
from mcp.server.caching import CacheHint
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.exceptions import HTTPException

from contracts.errors import ErrorCode, ToolCode
from contracts.events.chat import Action, ActionState
from contracts.ids import derive_id, is_id, uuid7
from contracts.json_values import is_object, object_of
from gateway.doors.mcp.analysis import NAME as ANALYSIS
from gateway.doors.mcp.analysis import McpAnalyses
from gateway.doors.mcp.confirmation import (
    PendingAction,
    answer_in,
    decision_in,
    edits_in,
    pending_action_in,
    question_form,
    question_result,
    with_snake_case_names,
)
from gateway.doors.mcp.offer import Context, Offer, caller_of, check_page, language_of, principal_of
from gateway.doors.mcp.results import invalid_arguments, listed_tool, refusal, success, tool_result, unavailable_error
from gateway.doors.mcp.tasks import Json
from gateway.doors.mcp.views import (
    CONFIRMATION,
    DECIDE_TOOL,
    EXTENSION,
    OrderDecision,
    decide_tool,
    is_valid_confirmation,
    list_no_templates,
    list_views,
    new_confirmation,
    read_view,
    shows_views,
)
from gateway.errors import GatewayError, RefusedError, UnavailableError
from gateway.ports import GatewayToolCall, TokenCaller, ToolAnswer
from gateway.texts import TEXTS
from gateway.web.deps import Api
from gateway.web.free_json import check_json

log = structlog.get_logger(__name__)
LIST_FRESH_MS = 60_000
"""Milliseconds for which a client may cache the list of tools, which changes with a plan, a setting, or a service that
announces tools."""


class McpTools:
    """The handlers that the SDK calls."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._analyses = McpAnalyses(api)

    def offer(self) -> Offer:
        """The product's offer: the tools, views of their results, and tasks."""
        fresh = CacheHint(ttl_ms=LIST_FRESH_MS, scope="private")
        return Offer(
            instructions=TEXTS["mcp.instructions"],
            handlers={
                "on_list_tools": self.list_tools,
                "on_call_tool": self.call_tool,
                "on_list_resources": list_views,
                "on_list_resource_templates": list_no_templates,
                "on_read_resource": read_view,
            },
            cache_hints=dict.fromkeys(("tools/list", "resources/list", "resources/read"), fresh),
            tasks=self._analyses,
            extensions={EXTENSION: {}},
        )

    async def list_tools(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """The tools of the caller's plan on one page, in the catalogue's order, which is always the same."""
        check_page(params)
        caller, language = caller_of(context), await language_of(context)
        try:
            tools = await self._api.tools.details(caller, language)
            own_tools = await self._analyses.list_tools(caller, language)
        except UnavailableError as error:
            raise unavailable_error(error) from error
        views = shows_views(context)
        if views:
            own_tools.append(decide_tool(language))
        return types.ListToolsResult(tools=[*(listed_tool(tool, views=views) for tool in tools), *own_tools])

    async def call_tool(
        self, context: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult | Json:
        """Calls a tool; calls with the same idempotency key are the same call."""
        caller, language = caller_of(context), await language_of(context)
        if params.request_state is not None:
            pending = PendingAction.parse(params.request_state)
            return await self._decide(caller, pending, answer_in(params.input_responses), language)
        if not is_id(params.name):
            raise unknown_tool(params.name)
        arguments = _checked_arguments(params.arguments or {})
        if params.name == DECIDE_TOOL and shows_views(context):
            return await self._decide_from_view(caller, arguments, language)
        key = _idempotency_key(context.params)
        if params.name == ANALYSIS:
            return await self._analyses.call(context, arguments, key)
        call_id = uuid7() if key is None else derive_id("idempotency-key", key)
        answer = await self._api.tools.call(caller, GatewayToolCall(call_id, params.name, arguments, language))
        result = answer.result
        if result.error is not None and result.error.code == ToolCode.TOOL_NOT_FOUND:
            raise unknown_tool(params.name)
        pending = pending_action_in(result.data)
        if pending is None or not _can_show_forms(context):
            view_meta = None
            if pending is not None and shows_views(context):
                view_meta = {
                    CONFIRMATION: new_confirmation(self._api.identity.seal_key, principal_of(caller), pending.action)
                }
            return tool_result(result, _nearest_limit(answer), extra_meta=view_meta)
        question = question_form(pending, language)
        if context.protocol_version in MODERN_PROTOCOL_VERSIONS:
            return question_result(pending, question)
        return await self._decide(caller, pending, await _ask_user(context, question), language)

    async def _decide(
        self, caller: TokenCaller, pending: PendingAction, answer: types.ElicitResult | None, language: str
    ) -> types.CallToolResult:
        """Carries out the user's decision; a second decision on the same action changes nothing."""
        decision = decision_in(answer)
        if decision is None:
            return tool_result(success(pending.data))
        edits = edits_in(pending, answer) if decision == "confirm" else None
        try:
            action = await self._api.actions.decide(caller, pending.action, decision, language, edits)
        except GatewayError as error:
            return refusal(str(error.code), error.message)
        changed_fields = with_snake_case_names(edits or {}) if action.state is ActionState.CONFIRMED else {}
        return tool_result(
            success(_decided_data(pending.data, action, changed_fields)), failed=action.state is ActionState.FAILED
        )

    async def _decide_from_view(
        self, caller: TokenCaller, arguments: Mapping[str, object], language: str
    ) -> types.CallToolResult:
        """Carries out the user's decision in an order's card; the first decision counts."""
        try:
            decision = OrderDecision.model_validate(arguments)
        except ValidationError as error:
            return invalid_arguments(error)
        if not is_valid_confirmation(
            self._api.identity.seal_key, principal_of(caller), decision.action_id, decision.confirmation
        ):
            return refusal(str(ErrorCode.FORBIDDEN), "confirmation: it is not of this order")
        edits = decision.edits if decision.decision == "confirm" else None
        try:
            action = await self._api.actions.decide(
                caller, decision.action_id, decision.decision, language, edits or None
            )
        except GatewayError as error:
            return refusal(str(error.code), error.message)
        data = {"action_id": action.id, "status": action.state.value, "action": action.to_wire()}
        return tool_result(success(data), failed=action.state is ActionState.FAILED)


def _nearest_limit(answer: ToolAnswer) -> dict[str, object] | None:
    if answer.nearest is None:
        return None
    window, nearest = answer.nearest
    return {"window": window, **nearest.to_wire()}


def _decided_data(data: dict[str, object], action: Action, changed_fields: dict[str, object]) -> dict[str, object]:
    """The call's data after the decision. `changed_fields`: the edited fields of the order."""
    decided_data = {**data, "status": action.state.value}
    order = data.get("order")
    if is_object(order):
        status = action.details.get("status")
        decided_data["order"] = {
            **order,
            "status": status if isinstance(status, str) else action.state.value,
            **changed_fields,
        }
    if changed_fields:
        decided_data |= {"summary": action.summary, "estimate": None}  # the estimate was of the unedited order
    return decided_data


def _checked_arguments(arguments: Json) -> Json:
    """Returns the arguments; raises MCPError if they cannot be forwarded (see check_json)."""
    try:
        check_json(arguments)
    except HTTPException as error:
        raise _invalid_arguments(error.detail) from error
    except RefusedError as error:
        faults = (f"{fault.field}: {fault.message}" for fault in error.fields)
        raise _invalid_arguments("; ".join(faults)) from error
    return arguments


def _invalid_arguments(reason: str) -> MCPError:
    data = {"code": ErrorCode.BAD_FIELD.value}
    return MCPError(code=types.INVALID_PARAMS, message=f"arguments: {reason}", data=data)


def unknown_tool(name: str) -> MCPError:
    """The error for a tool that does not exist."""
    return MCPError(
        code=types.INVALID_PARAMS, message=f"Unknown tool: {name[:128]}", data={"code": ToolCode.TOOL_NOT_FOUND.value}
    )


def _can_show_forms(context: Context) -> bool:
    """Whether the client can show a form to its user: if it lists its modes, `form` must be among them."""
    capabilities = context.session.client_capabilities
    elicitation = capabilities.elicitation if capabilities is not None else None
    return elicitation is not None and (elicitation.form is not None or elicitation.url is None)


async def _ask_user(context: Context, question: types.ElicitRequestFormParams) -> types.ElicitResult | None:
    """Asks the user during the call; returns the answer, or None if it is invalid or does not arrive in time."""
    try:
        return await context.session.elicit_form(question.message, question.requested_schema, context.request_id)
    except (MCPError, ValidationError) as error:
        log.info("mcp.question_unanswered", reason=str(error)[:200])
        return None


def _idempotency_key(params: Mapping[str, object] | None) -> str | None:
    """The `idempotencyKey` in `_meta`, with or without a prefix; None if there is none. Raises MCPError if it is
    invalid."""
    for name, value in object_of((params or {}).get("_meta")).items():
        if name.rpartition("/")[2].replace("-", "").replace("_", "").lower() != "idempotencykey":
            continue
        if not isinstance(value, str) or not 1 <= len(value) <= 255:
            raise MCPError(code=types.INVALID_PARAMS, message=f"_meta: {name} must be a text of 1 to 255 characters")
        return value
    return None
