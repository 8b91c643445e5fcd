"""The tool catalogue and tool calls over the bus: requested in TOOLS, answered to an inbox."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

import structlog
from pydantic import ValidationError

from contracts import tools_rpc
from contracts.channels import tool_request
from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, ToolCode
from contracts.events.tool import QuotaView, ToolCallCompleted, ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.ids import is_id, uuid7
from contracts.rpc import Rpc
from contracts.streams import TOOLS
from gateway.adapters.identity import CallerSigner
from gateway.adapters.log import SOURCE
from gateway.errors import UnavailableError
from gateway.ports import GatewayToolCall, TokenCaller, ToolAnswer
from gateway.texts import TEXTS
from runtime.bus.clock import JetStreamClock
from runtime.bus.publisher import Publisher
from runtime.bus.replies import Pending, ReplyInbox
from runtime.calls.call_answers import CallAnswers, decisive_reply
from runtime.calls.rpc import ReplyT, RequestT, RpcClient
from runtime.errors import PublishFailedError, PublishTimeoutError, RpcError
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

# Built once: building a parametrised model takes milliseconds.
_RequestedEvent = CloudEvent[ToolCallRequested]
_CompletedEvent = CloudEvent[ToolCallCompleted]

CALL_SECONDS = 60.0
"""Seconds that a caller waits for a result at most; the executor runs nothing after that."""
ATTEMPT_SECONDS = (5.0, 25.0, 30.0)
"""Seconds to wait for each attempt's answer. Requests are repeated if an executor answers; it runs a call id once. The
first is short, for whoever asks while no executor answers to hear of it."""
_CATALOGUE_SECONDS = 3.0
"""Deadline of reading the list of tools."""
_EXECUTOR_SECONDS = 3.0
"""Deadline for any executor to answer at all."""
_QUOTA_SECONDS = 1.0
"""Deadline of reading a tool's remaining quota, without which the answer is sent otherwise."""
_MAX_KNOWN_TOOLS = 2000


class ToolClient:
    """The tool-executor behind the bus."""

    def __init__(self, publisher: Publisher, rpc: RpcClient, inbox: ReplyInbox, principals: CallerSigner) -> None:
        self._publisher = publisher
        self._rpc = rpc
        self._inbox = inbox
        self._clock = JetStreamClock(inbox, TOOLS.name)
        self._principals = principals
        self._categories = Bounded[str, tuple[str, bool]](_MAX_KNOWN_TOOLS)

    async def catalogue(self, caller: TokenCaller, language: str) -> list[tools_rpc.CatalogueTool]:
        """The caller's tools, with quota; raises UnavailableError."""
        request = _request(caller, language).model_copy(update={"with_quota": True})
        return (await self._ask_catalogue(tools_rpc.CATALOGUE, request)).tools

    async def all_tools(self, company: str, language: str) -> list[tools_rpc.CatalogueTool]:
        """All tools that users of the company can have on any plan; raises UnavailableError."""
        request = tools_rpc.CatalogueRequest(company_id=company, role="user", plan="premium", language=language)
        return (await self._ask_catalogue(tools_rpc.CATALOGUE, request)).tools

    async def details(self, caller: TokenCaller, language: str) -> list[tools_rpc.ToolDetails]:
        """The caller's tools with both schemas and descriptions, in the catalogue's order; raises UnavailableError."""
        request = tools_rpc.ToolDetailsRequest(
            company_id=caller.company, role=caller.role, plan=caller.plan, language=language, names=None
        )
        return (await self._ask_catalogue(tools_rpc.TOOL_DETAILS, request)).tools

    async def _ask_catalogue(self, method: Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT:
        try:
            return await self._rpc.call(method, request, deadline=_CATALOGUE_SECONDS)
        except RpcError as error:
            raise UnavailableError("the tools cannot be listed now: try again") from error

    async def call(self, caller: TokenCaller, call: GatewayToolCall) -> ToolAnswer:
        """Calls a tool. Always returns a result: UNAVAILABLE and TIMEOUT are results too.

        If the executor did not report the remaining quota, as for a repeated call, which is not counted, the quota is
        read separately.
        """
        completed = await self._ask_executor(caller, call)
        if isinstance(completed, ToolResult):
            return ToolAnswer(completed, {})
        quota = completed.quota
        return ToolAnswer(completed.result, await self._quota(caller, call.tool) if quota is None else quota)

    async def _ask_executor(self, caller: TokenCaller, call: GatewayToolCall) -> ToolCallCompleted | ToolResult:
        """The executor's report on the call, or a failed result if there is none."""
        started = time.monotonic()
        try:
            category, side_effects = await self._category(caller, call.tool)
        except RpcError:
            return _failed(ToolCode.UNAVAILABLE, TEXTS["tool.not_now"].in_language(call.language), started)
        answers = CallAnswers()
        with await self._inbox.expect(answers) as pending:
            for attempt, attempt_seconds in enumerate(ATTEMPT_SECONDS, start=1):
                if attempt > 1 and not await self._has_executor(caller, call.tool):
                    break
                remaining = started + CALL_SECONDS - time.monotonic()
                if remaining <= 0:
                    break
                request = ToolCallRequested(
                    call_id=call.call_id,
                    tool=call.tool,
                    arguments=call.arguments,
                    principal=self._principals.sign(caller, None, call.language),
                    company_id=caller.company,
                    reply_to=pending.another_name(),
                    deadline=datetime.fromtimestamp(await self._clock.time() + remaining, UTC),
                    attempt=attempt,
                    language=call.language,
                )
                answers.expect(request.reply_to or "")
                try:
                    completed = await self._attempt(request, category, pending, min(attempt_seconds, remaining))
                except PublishFailedError as error:
                    log.warning("tool.not_asked", call_id=call.call_id, error=str(error))
                    # A request may have been stored, even this one: if the bus timed out, it may deliver it later.
                    if attempt > 1 or isinstance(error, PublishTimeoutError):
                        break
                    return _failed(ToolCode.UNAVAILABLE, TEXTS["tool.not_asked"].in_language(call.language), started)
                if completed is not None:
                    return completed
        text, reason = (TEXTS["tool.no_outcome"], OUTCOME_UNKNOWN) if side_effects else (TEXTS["tool.no_result"], None)
        message = text.in_language(call.language).format(tool=call.tool, seconds=time.monotonic() - started)
        return _failed(ToolCode.TIMEOUT, message, started, reason=reason)

    async def _attempt(
        self, request: ToolCallRequested, category: str, pending: Pending, seconds: float
    ) -> ToolCallCompleted | None:
        event = _RequestedEvent(
            source=SOURCE, type="tools.call.requested.v1", subject=f"{request.company_id}/-", data=request
        )
        # Each request needs its own answer, so none must be deduplicated as a copy of another.
        msg_id = f"{request.call_id}.{request.attempt}.{uuid7()}"
        give_up_at = time.monotonic() + seconds
        await self._publisher.append(tool_request(category), event, stream="TOOLS", msg_id=msg_id, deadline=seconds)
        try:
            messages = await pending.wait(give_up_at - time.monotonic())
            return _CompletedEvent.model_validate_json(decisive_reply(messages).data).data
        except TimeoutError:
            return None
        except ValidationError as error:
            log.warning("tool.unreadable_answer", call_id=request.call_id, problems=error.error_count())
            pending.reset()
            return None

    async def _quota(self, caller: TokenCaller, name: str) -> Mapping[str, QuotaView]:
        request = _request(caller, "en").model_copy(update={"with_quota": True, "name": name})
        try:
            tools = (await self._rpc.call(tools_rpc.CATALOGUE, request, deadline=_QUOTA_SECONDS)).tools
        except RpcError:
            return {}
        return {window: remaining for tool in tools for window, remaining in (tool.quota or {}).items()}

    async def _has_executor(self, caller: TokenCaller, name: str) -> bool:
        """Whether any executor answers. It is worth waiting for a busy one, but not for one that has stopped."""
        try:
            await self._rpc.call(
                tools_rpc.CATALOGUE,
                _request(caller, "en").model_copy(update={"name": name}),
                deadline=_EXECUTOR_SECONDS,
            )
        except RpcError as error:
            return error.code not in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
        return True

    async def _category(self, caller: TokenCaller, name: str) -> tuple[str, bool]:
        """The tool's category, which is the last token of the subject, and whether it may have side effects. The
        executor decides which tools exist and for whom; a company may change its own tools at any time."""
        cached = self._categories.get(name)
        if cached is not None:
            return cached
        request = tools_rpc.CatalogueRequest(company_id=caller.company, role="user", plan="premium", name=name)
        tools = (await self._rpc.call(tools_rpc.CATALOGUE, request, deadline=_CATALOGUE_SECONDS)).tools
        if not tools:
            return "unknown", False
        category = tools[0].category
        self._categories[name] = cached = category, tools[0].side_effects or category == tools_rpc.Category.OWN
        return cached


def _request(caller: TokenCaller, language: str) -> tools_rpc.CatalogueRequest:
    return tools_rpc.CatalogueRequest(
        company_id=caller.company,
        role=caller.role,
        plan=caller.plan,
        language=language,
        user_id=caller.subject if is_id(caller.subject) else None,
    )


def _failed(code: ToolCode, message: str, started: float, reason: str | None = None) -> ToolResult:
    milliseconds = round((time.monotonic() - started) * 1000, 3)
    error = ToolError(code=code, message=message, reason=reason)
    return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=milliseconds))
