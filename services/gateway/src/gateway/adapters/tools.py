"""The tool catalogue and tool calls over the bus: requested in TOOLS, answered to an inbox."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import structlog
from pydantic import ValidationError

from contracts.channels import tool_request
from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, ToolCode
from contracts.events.tool import QuotaView, ToolCallCompleted, ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.ids import is_id, uuid7
from contracts.rpc import Rpc
from contracts.tools_rpc import (
    CATALOGUE,
    TOOL_DETAILS,
    CatalogueRequest,
    CatalogueTool,
    Category,
    ToolDetails,
    ToolDetailsRequest,
)
from gateway.adapters.identity import CallerSigner
from gateway.adapters.log import SOURCE
from gateway.errors import UnavailableError
from gateway.ports import GatewayToolCall, TokenCaller, ToolAnswer
from gateway.texts import TEXTS
from runtime.bus.publisher import Publisher
from runtime.bus.replies import Pending, ReplyInbox
from runtime.calls.call_answers import CallAnswers, decisive_reply
from runtime.calls.rpc import ReplyT, RequestT, RpcClient
from runtime.errors import PublishFailedError, PublishTimeoutError, RpcError
from runtime.recent import Bounded

log = structlog.get_logger(__name__)

# Named once: building a parametrised model anew takes milliseconds.
_RequestedEvent = CloudEvent[ToolCallRequested]
_CompletedEvent = CloudEvent[ToolCallCompleted]

CALL_SECONDS = 60.0
"""The longest wait of a caller for a result; the executor runs nothing after that."""
PATIENCE = (10.0, 20.0, 30.0)
"""Seconds until an unanswered request is sent again, if there is an executor; it runs a call id once."""
_CATALOGUE_SECONDS = 3.0
"""Deadline for the list of tools."""
_SERVED = 3.0
"""Deadline for any executor to answer at all."""
_QUOTA_SECONDS = 1.0
"""Deadline for a tool's remaining quota; the answer is sent without it otherwise."""
_MOST_NAMES = 2000


class ToolClient:
    """The tool-executor behind the bus."""

    def __init__(self, publisher: Publisher, rpc: RpcClient, inbox: ReplyInbox, principals: CallerSigner) -> None:
        self._publisher = publisher
        self._rpc = rpc
        self._inbox = inbox
        self._principals = principals
        self._known = Bounded[str, tuple[str, bool]](_MOST_NAMES)

    async def catalogue(self, caller: TokenCaller, language: str) -> list[CatalogueTool]:
        """The caller's tools, with quota; raises UnavailableError."""
        request = _request(caller, language).model_copy(update={"with_quota": True})
        return (await self._listed(CATALOGUE, request)).tools

    async def every(self, company: str, language: str) -> list[CatalogueTool]:
        """All tools that a user of the company could have on any plan; raises UnavailableError."""
        request = CatalogueRequest(company_id=company, role="user", plan="premium", language=language)
        return (await self._listed(CATALOGUE, request)).tools

    async def details(self, caller: TokenCaller, language: str) -> list[ToolDetails]:
        """The caller's tools with both schemas and descriptions, in the catalogue's own order; raises
        UnavailableError."""
        request = ToolDetailsRequest(
            company_id=caller.company, role=caller.role, plan=caller.plan, language=language, names=None
        )
        return (await self._listed(TOOL_DETAILS, request)).tools

    async def _listed(self, method: Rpc[RequestT, ReplyT], request: RequestT) -> ReplyT:
        try:
            return await self._rpc.call(method, request, deadline=_CATALOGUE_SECONDS)
        except RpcError as error:
            raise UnavailableError("the tools cannot be listed now: try again") from error

    async def call(self, caller: TokenCaller, asked: GatewayToolCall) -> ToolAnswer:
        """Always returns a result: UNAVAILABLE and TIMEOUT are results too.

        What is left is asked for where the executor did not say it: of a repeated call, which is not counted.
        """
        completed = await self._completed(caller, asked)
        if isinstance(completed, ToolResult):
            return ToolAnswer(completed, {})
        quota = completed.quota
        return ToolAnswer(completed.result, await self._quota(caller, asked.tool) if quota is None else quota)

    async def _completed(self, caller: TokenCaller, asked: GatewayToolCall) -> ToolCallCompleted | ToolResult:
        """The executor's word on the call, or the result of a call that it gave none on."""
        started = time.monotonic()
        try:
            category, side_effects = await self._category(caller, asked.tool)
        except RpcError:
            return _failed(ToolCode.UNAVAILABLE, TEXTS["tool.not_now"].in_language(asked.language), started)
        answers = CallAnswers()
        with await self._inbox.expect(answers) as pending:
            for attempt, patience in enumerate(PATIENCE, start=1):
                if attempt > 1 and not await self._served(caller, asked.tool):
                    break
                left = started + CALL_SECONDS - time.monotonic()
                if left <= 0:
                    break
                request = ToolCallRequested(
                    call_id=asked.call_id,
                    tool=asked.tool,
                    arguments=asked.arguments,
                    principal=self._principals.sign(caller, None, asked.language),
                    company_id=caller.company,
                    reply_to=pending.another_name(),
                    deadline=datetime.now(UTC) + timedelta(seconds=left),
                    attempt=attempt,
                    language=asked.language,
                )
                answers.expect(request.reply_to or "")
                try:
                    completed = await self._once(request, category, pending, min(patience, left))
                except PublishFailedError as error:
                    log.warning("tool.not_asked", call_id=asked.call_id, error=str(error))
                    # A request may be on its way, this one too: what a silent bus has taken in is done when it goes on.
                    if attempt > 1 or isinstance(error, PublishTimeoutError):
                        break
                    return _failed(ToolCode.UNAVAILABLE, TEXTS["tool.not_asked"].in_language(asked.language), started)
                if completed is not None:
                    return completed
        text, reason = (TEXTS["tool.no_outcome"], OUTCOME_UNKNOWN) if side_effects else (TEXTS["tool.no_result"], None)
        said = text.in_language(asked.language).format(tool=asked.tool, seconds=time.monotonic() - started)
        return _failed(ToolCode.TIMEOUT, said, started, reason=reason)

    async def _once(
        self, request: ToolCallRequested, category: str, pending: Pending, seconds: float
    ) -> ToolCallCompleted | None:
        event = _RequestedEvent(
            source=SOURCE, type="tools.call.requested.v1", subject=f"{request.company_id}/-", data=request
        )
        # Every request has an answer of its own to get: none must be swallowed as a copy of another's.
        msg_id = f"{request.call_id}.{request.attempt}.{uuid7()}"
        end = time.monotonic() + seconds
        await self._publisher.append(tool_request(category), event, stream="TOOLS", msg_id=msg_id, deadline=seconds)
        try:
            messages = await pending.wait(end - time.monotonic())
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
            found = (await self._rpc.call(CATALOGUE, request, deadline=_QUOTA_SECONDS)).tools
        except RpcError:
            return {}
        return {window: left for one in found for window, left in (one.quota or {}).items()}

    async def _served(self, caller: TokenCaller, name: str) -> bool:
        """Whether any executor answers: a busy one is waited for, one that is stopped is not."""
        try:
            await self._rpc.call(CATALOGUE, _request(caller, "en").model_copy(update={"name": name}), deadline=_SERVED)
        except RpcError as error:
            return error.code not in (ErrorCode.TIMEOUT, ErrorCode.UNAVAILABLE)
        return True

    async def _category(self, caller: TokenCaller, name: str) -> tuple[str, bool]:
        """The last token of the subject, and whether the tool may have side effects. The executor decides which tools
        exist and for whom; a company may change its own tools at any time."""
        known = self._known.get(name)
        if known is not None:
            return known
        everything = CatalogueRequest(company_id=caller.company, role="user", plan="premium", name=name)
        found = (await self._rpc.call(CATALOGUE, everything, deadline=_CATALOGUE_SECONDS)).tools
        if not found:
            return "unknown", False
        category = found[0].category
        self._known[name] = known = category, found[0].side_effects or category == Category.OWN
        return known


def _request(caller: TokenCaller, language: str) -> CatalogueRequest:
    return CatalogueRequest(
        company_id=caller.company,
        role=caller.role,
        plan=caller.plan,
        language=language,
        user_id=caller.subject if is_id(caller.subject) else None,
    )


def _failed(code: ToolCode, message: str, started: float, reason: str | None = None) -> ToolResult:
    spent = round((time.monotonic() - started) * 1000, 3)
    error = ToolError(code=code, message=message, reason=reason)
    return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=spent))
