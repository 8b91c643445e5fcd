"""Handles tool calls from the work queue, and requests for the catalogue."""

import json
import math
import re
import time
from collections.abc import Sequence
from datetime import UTC
from typing import Literal, cast

import structlog
from pydantic import ValidationError

from contracts.channels import fact
from contracts.envelope import CloudEvent
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, ToolCode
from contracts.events.tool import FieldError, ToolCallCompleted, ToolCallRequested, ToolError, ToolMetadata, ToolResult
from contracts.ids import NOBODY, derive_id, is_id, uuid7
from contracts.tools_rpc import CatalogueReply, CatalogueRequest, ToolDetailsReply, ToolDetailsRequest
from contracts.wrong_fields import message_of
from runtime.auth.principals import Verify
from runtime.bus.clock import JetStreamClock
from runtime.bus.publisher import Publisher
from runtime.errors import InvalidTokenError, PublishFailedError, RpcError
from runtime.observability.gen_ai import SPAN_TOOL, TOOL_CALL, TOOL_NAME
from runtime.observability.telemetry import span
from runtime.workers.outcomes import Ack, AckThen, DeadLetter, Outcome, Retry
from runtime.workers.pull_worker import Delivery
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.adapters.metrics import UNKNOWN, count_call
from tool_executor.catalogue.announced import Offers
from tool_executor.catalogue.export import catalogue_view, details_view
from tool_executor.catalogue.quota import quota_views, quotas_left
from tool_executor.catalogue.registry import Entry
from tool_executor.domain.declaration import ToolUnavailableError
from tool_executor.domain.limits import Quota
from tool_executor.domain.plans import CompanyTools, VerifiedCaller, plan_of
from tool_executor.domain.redaction import masked
from tool_executor.pipeline.call import CallProgress, Pipeline, Postponed
from tool_executor.ports import RateLimiter
from tool_executor.texts import TEXTS

log = structlog.get_logger(__name__)


class RequestedEvent(CloudEvent[ToolCallRequested]):
    """A requested call of this version only: the fields of other versions are unknown here."""

    type: Literal["tools.call.requested.v1"]  # pyright: ignore[reportIncompatibleVariableOverride] - frozen


# Assigned once: pydantic drops parametrised models without references, and building one takes milliseconds.
CompletedEvent = CloudEvent[ToolCallCompleted]

SOURCE = "/nexus/tool-executor"
COMPLETED = "tools.call.completed.v1"
CALL_SECONDS = 60.0
"""Deadline in seconds of a call that names none."""
_LOG_DEADLINE = 5.0
"""Seconds to store a call's result in the stream FACTS."""
_MAX_LOG_DELIVERIES = 5
"""Deliveries of a call in which that is tried."""
_MAX_DIGITS = 400
"""Digits of a whole number up to which it is parsed as one; a double has at most 309."""
_REPLY_SUBJECT = re.compile(r"_INBOX(?:\.[^\s.*>]+)+")


class CallHandler:
    """Handles one requested call: verify the caller, run the pipeline, answer, log."""

    def __init__(self, pipeline: Pipeline, verify: Verify, publisher: Publisher, clock: JetStreamClock) -> None:
        self._pipeline = pipeline
        self._clock = clock
        self._verify = verify
        self._publisher = publisher

    async def handle(self, delivery: Delivery) -> Outcome | AckThen:
        """Handles one delivery: Ack if the call was answered and logged, Retry if it must be delivered again.

        An unrecorded refusal (no service for the tool, a limit) of a call that may have effects is sent only when the
        message is gone: if it were delivered again, the call could still be made after its caller was refused.
        """
        try:
            request = parse_request(delivery.data)
        except ValidationError as error:
            await self._answer_unreadable(delivery.data, error)
            return DeadLetter(f"not a tool call: {error.error_count()} fields are wrong")
        caller = self._caller(request)
        if caller is None:
            # The principal may have expired since an earlier executor started the call.
            reason = OUTCOME_UNKNOWN if delivery.num_delivered > 1 else None
            message = TEXTS["call.unauthorized"].in_language(request.language or "es")
            result = _failure(ToolCode.UNAUTHORIZED, message, reason=reason)
            log.warning("tool.unauthorized", tool=request.tool, call_id=request.call_id)
            refusal = _event(uuid7(), _completed(request, None, result))
            return AckThen(lambda: self._answer(request, refusal))
        call = CallProgress(
            call_id=request.call_id,
            tool=request.tool,
            arguments=request.arguments,
            caller=caller,
            expires=time.monotonic() + _seconds_left(request, delivery, await self._clock.time()),
            abandoned=delivery.num_delivered > 1,  # without the store nothing more is known
        )
        with span(f"{SPAN_TOOL} {request.tool}", **{TOOL_NAME: request.tool, TOOL_CALL: request.call_id}):
            result = await self._pipeline.run(call)
        if isinstance(result, Postponed):
            return Retry(result.seconds)
        count_call(request.tool if call.entry is not None or call.repeated else UNKNOWN, result)
        completed = _completed(request, caller, result, call.quotas)
        # A recorded call has the same event at each repeat; a refusal that may be tried again has a new one each time.
        identity = derive_id(caller.company, caller.user, request.call_id, "completed") if call.recorded else uuid7()
        event = _event(identity, completed)

        async def answer_and_log() -> bool:
            await self._answer(request, event)
            return await self._log(caller, identity, event, completed)

        if not call.recorded and (call.entry is None or call.entry.tool.side_effects):
            return AckThen(answer_and_log)
        # The caller has its answer; after a Retry it is only logged again, from the record.
        return Ack() if await answer_and_log() or delivery.num_delivered >= _MAX_LOG_DELIVERIES else Retry(1.0)

    def _caller(self, request: ToolCallRequested) -> VerifiedCaller | None:
        if not request.principal:
            return None
        try:
            claims = self._verify(request.principal)
        except InvalidTokenError as error:
            log.info("tool.principal_refused", call_id=request.call_id, why=str(error))
            return None
        if claims.conversation is not None and request.conversation_id not in {None, claims.conversation}:
            log.info("tool.principal_refused", call_id=request.call_id, why="it is good for another conversation")
            return None
        return VerifiedCaller(
            company=claims.company,
            user=claims.sub,
            role=claims.role,
            plan=plan_of(claims.plan),
            language=request.language or claims.language or "es",
            conversation=claims.conversation or request.conversation_id,
            prompt=request.prompt,
            user_texts=None if request.said is None else tuple(request.said),
        )

    async def _answer(self, request: ToolCallRequested, event: bytes) -> None:
        if request.reply_to is not None and is_reply_subject(request.reply_to):
            await self._publisher.publish_live(request.reply_to, event)
        elif request.reply_to is not None:
            log.warning("tool.reply_refused", call_id=request.call_id, reply_to=request.reply_to[:80])

    async def _answer_unreadable(self, data: bytes, error: ValidationError) -> None:
        """Answers a message that is not a call with an error, if it says where to answer."""
        try:
            # The standard library parses what stricter parsers refuse (half a surrogate pair, for example).
            body = cast("dict[str, object]", json.loads(data, parse_int=_parse_whole)["data"])
            reply_to, raw_call_id, tool = body["replyTo"], body.get("callId"), str(body.get("tool", ""))
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            return
        tool = tool.encode("utf-8", "replace").decode()
        if not isinstance(reply_to, str):
            return
        # An invalid id cannot be sent back; the fields of the error name it.
        call_id = raw_call_id if isinstance(raw_call_id, str) and is_id(raw_call_id) else NOBODY
        problems = error.errors(include_url=False, include_input=False)[:20]
        fields = [
            FieldError(
                field=".".join(str(part) for part in problem["loc"]).removeprefix("data."), message=message_of(problem)
            )
            for problem in problems
        ]
        result = _failure(ToolCode.VALIDATION_ERROR, "The call does not fit tools.call.requested.v1.", fields=fields)
        completed = ToolCallCompleted(call_id=call_id, tool=tool[:128], arguments={}, result=result)
        if is_reply_subject(reply_to):
            await self._publisher.publish_live(reply_to, _event(uuid7(), completed))

    async def _log(self, caller: VerifiedCaller, identity: str, event: bytes, completed: ToolCallCompleted) -> bool:
        """Logs a failure and stores the completed call in FACTS; returns False if a later attempt may succeed."""
        error = completed.result.error
        if error is not None:
            # Only failures get a log line: successes are in FACTS and in the metrics.
            log.info(
                "tool.failed",
                tool=completed.tool,
                call_id=completed.call_id,
                company=caller.company,
                code=error.code,
                reason=error.reason,
                ms=completed.result.metadata.execution_time,
            )
        try:
            await self._publisher.append(
                fact(COMPLETED, caller.company, caller.user),
                event,
                stream="FACTS",
                msg_id=identity,
                deadline=_LOG_DEADLINE,
            )
        except PublishFailedError as failure:
            log.warning("tool.not_logged", call_id=completed.call_id, error=str(failure))
            return not failure.retryable
        return True


def parse_request(data: bytes) -> ToolCallRequested:
    """Parses the call in a message; raises ValidationError. A number with too many digits for parsers becomes infinity,
    which its tool then refuses."""
    try:
        return RequestedEvent.model_validate_json(data).data
    except ValidationError as error:
        if "number out of range" not in str(error):
            raise
        return RequestedEvent.model_validate(json.loads(data, parse_int=_parse_whole)).data


def _seconds_left(request: ToolCallRequested, delivery: Delivery, now: float) -> float:
    if request.deadline is not None:
        deadline = request.deadline if request.deadline.tzinfo else request.deadline.replace(tzinfo=UTC)
        return deadline.timestamp() - now
    return CALL_SECONDS - max(now - delivery.stored_at, 0.0) if delivery.stored_at else CALL_SECONDS


def _parse_whole(digits: str) -> int | float:
    return int(digits) if len(digits) <= _MAX_DIGITS else math.inf


class CatalogueHandler:
    """Lists the tools that a caller may use, with what is left of their limits, or with all details."""

    def __init__(self, offers: Offers, companies: ExecutorCompanies, limiter: RateLimiter) -> None:
        self._offers = offers
        self._companies = companies
        self._limiter = limiter

    async def catalogue(self, request: CatalogueRequest) -> CatalogueReply:
        """Returns the tools; raises RpcError (UNAVAILABLE) if the settings of a visitor's company cannot be read."""
        caller = _caller_of(request, user=request.user_id or NOBODY)
        entries = await self._offered(caller)
        if request.name is not None:
            entries = [entry for entry in entries if entry.tool.name == request.name]
        wants_quota = request.with_quota and request.user_id is not None
        quotas = await quotas_left(self._limiter, caller, entries) if wants_quota else {}
        return CatalogueReply(
            tools=[catalogue_view(entry, request.language, quotas.get(entry.tool.name)) for entry in entries]
        )

    async def details(self, request: ToolDetailsRequest) -> ToolDetailsReply:
        """rpc.tools.details.v1: the details for a service that plans calls by itself. Raises as `catalogue` does."""
        offered = await self._offered(_caller_of(request, user=NOBODY))
        entries = [entry for entry in offered if request.names is None or entry.tool.name in request.names]
        return ToolDetailsReply(tools=[details_view(entry, request.language) for entry in entries])

    async def _offered(self, caller: VerifiedCaller) -> list[Entry]:
        try:
            company = await self._companies.tools_of(caller.company)
        except ToolUnavailableError as unavailable:
            if caller.is_visitor:
                raise RpcError(ErrorCode.UNAVAILABLE, str(unavailable), retryable=True) from unavailable
            company = CompanyTools()  # see pipeline.permission.FindTool
        return list(self._offers.offered_to(caller, company))


def _caller_of(request: CatalogueRequest | ToolDetailsRequest, *, user: str) -> VerifiedCaller:
    plan = plan_of(request.plan)
    return VerifiedCaller(request.company_id, user, request.role, plan=plan, language=request.language)


def is_reply_subject(subject: str) -> bool:
    """Whether an answer may be sent there: only to an inbox, which no stream stores. The executor's user of the bus may
    publish to no other subject of a caller's."""
    return len(subject) <= 256 and _REPLY_SUBJECT.fullmatch(subject) is not None


def _event(identity: str, completed: ToolCallCompleted) -> bytes:
    return CompletedEvent(id=identity, source=SOURCE, type=COMPLETED, data=completed).to_json()


def _completed(
    request: ToolCallRequested, caller: VerifiedCaller | None, result: ToolResult, quotas: Sequence[Quota] = ()
) -> ToolCallCompleted:
    return ToolCallCompleted(
        call_id=request.call_id,
        tool=request.tool,
        arguments=masked(request.arguments),
        result=result,
        company_id=caller.company if caller is not None else None,
        user_id=caller.user if caller is not None else None,
        conversation_id=caller.conversation if caller is not None else None,
        turn_id=request.turn_id,
        quota=quota_views(quotas) or None,
    )


def _failure(
    code: ToolCode, message: str, *, reason: str | None = None, fields: list[FieldError] | None = None
) -> ToolResult:
    error = ToolError(code=code, message=message, reason=reason, fields=fields)
    return ToolResult(success=False, error=error, metadata=ToolMetadata(execution_time=0.0))
