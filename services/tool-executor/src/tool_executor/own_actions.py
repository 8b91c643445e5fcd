"""Calls of companies' own tools that wait for a customer's confirmation: stored in Redis, run once, and published.

pending ─► running ─► confirmed | failed
   └─► rejected | expired
"""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Literal, cast

import structlog
from pydantic import Field

from contracts.channels import fact
from contracts.envelope import CloudEvent, Wire
from contracts.errors import OUTCOME_UNKNOWN, ErrorCode, FieldFault
from contracts.events.chat import Action, ActionState
from contracts.events.market import ActionDecided
from contracts.ids import derive_id
from contracts.market_rpc import ActionDecideRequest, ActionReply, ActionsReply, ActionsRequest, PendingActionsReply
from contracts.memory_rpc import UserRef
from contracts.own_tools import ACTION_KIND, ACTION_PREFIX
from runtime.bus.publisher import Publisher
from runtime.calls.deadlines import caller_has_gone
from runtime.errors import PublishFailedError, RpcError
from tool_executor.adapters.companies import ExecutorCompanies
from tool_executor.adapters.redis_store import RedisStore, Script, unavailable_errors
from tool_executor.catalogue.own import OwnCatalogue
from tool_executor.domain.declaration import (
    CallContext,
    Data,
    Handler,
    ToolFailedError,
    ToolRefusedError,
    ToolUnavailableError,
)
from tool_executor.domain.plans import Arguments, VerifiedCaller, plan_of
from tool_executor.ports import RedisUnavailableError
from tool_executor.texts import TEXTS, in_language

log = structlog.get_logger(__name__)
ActionEvent = CloudEvent[ActionDecided]
DECIDED = "action.decided.v1"
CONFIRMATION_TIME = timedelta(hours=1)
KEPT_SECONDS = 86_400
"""Seconds for which an action is stored, decided or not."""
MAX_WAITING = 20
"""Actions of one customer that may wait at the same time."""
_MAX_RUN_TIME = timedelta(seconds=45)
"""Longer than any call may take: if a call has run for longer, its executor has died."""
_LOG_SECONDS = 3.0
"""Seconds to store the fact of a decision."""
_MAX_RESULT_CHARS = 1_000
"""Characters of a result in an action's details."""

# Replaces a field only if it still has the expected value; each change extends the key's life.
_SWAP = Script(
    """
    local now = redis.call('HGET', KEYS[1], ARGV[1]) or ''
    if now ~= ARGV[2] then return 0 end
    if ARGV[2] == '' and redis.call('HLEN', KEYS[1]) >= tonumber(ARGV[5]) then return -1 end
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[3])
    redis.call('EXPIRE', KEYS[1], ARGV[4])
    return 1
    """
)
_MAX_STORED = 200


class HeldCall(Wire):
    """A waiting call, its user and its state. `version`: of the declaration at the time of the call."""

    id: str
    tool: str
    arguments: dict[str, object]
    version: int
    role: str
    plan: str
    language: str
    conversation: str | None = None
    state: Literal["pending", "running", "confirmed", "rejected", "expired", "failed"] = "pending"
    expires_at: datetime
    begun_at: datetime | None = None
    decided_at: datetime | None = None
    result: str | None = Field(default=None, description="what came of it, in words")
    reason: str | None = None


class OwnActions:
    """Stores and runs the calls of own tools that a customer has to confirm."""

    def __init__(
        self,
        store: RedisStore,
        publisher: Publisher,
        companies: ExecutorCompanies,
        catalogue: Callable[[], OwnCatalogue],
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._companies = companies
        self._catalogue = catalogue

    def hold(self, tool: str, version: int) -> Handler:
        """Returns a handler that stores the call and returns the waiting action."""

        async def handle(arguments: Arguments, context: CallContext) -> Data:
            caller = context.caller
            call = HeldCall(
                id=ACTION_PREFIX + derive_id(caller.company, caller.user, context.call_id, "own action"),
                tool=tool,
                arguments=dict(arguments),
                version=version,
                role=caller.role,
                plan=caller.plan.word,
                language=caller.language,
                conversation=caller.conversation,
                expires_at=datetime.now(UTC) + CONFIRMATION_TIME,
            )
            key = _key(caller.company, caller.user)
            try:
                others = [other for other in await self._all(key) if other.id != call.id]
                if sum(_with_expiry(other).state == "pending" for other in others) >= MAX_WAITING:
                    raise ToolFailedError("too_many_waiting", TEXTS["call.too_many_waiting"])
                await self._swap(key, b"", call)
            except RedisUnavailableError as unavailable:
                raise ToolUnavailableError(str(unavailable)) from unavailable
            return {
                "action_id": call.id,
                "status": "pending_confirmation",
                "summary": _summary(call),
                "arguments": dict(arguments),
                "expires_at": call.expires_at.isoformat(),
            }

        return handle

    async def decide(self, request: ActionDecideRequest) -> ActionReply:
        """The action after the decision; the first one stands. Raises RpcError."""
        key, language = _key(request.company_id, request.user_id), request.language or "en"
        raw, call = await self._load(key, request.action_id)
        if call.state == "running":
            if datetime.now(UTC) - (call.begun_at or call.expires_at) < _MAX_RUN_TIME:
                raise RpcError(ErrorCode.UNAVAILABLE, TEXTS["action.running"].in_language(language), retryable=True)
            return await self._store_end(
                request, raw, call.model_copy(update={"state": "failed", "reason": OUTCOME_UNKNOWN})
            )
        if call.state != "pending":
            return ActionReply(action=_action(call))
        if caller_has_gone():
            raise RpcError(ErrorCode.TIMEOUT, TEXTS["action.late"].in_language(language), retryable=True)
        if (expired := _with_expiry(call)).state == "expired":
            return await self._store_end(request, raw, expired)
        if request.decision == "reject":
            return await self._store_end(
                request, raw, call.model_copy(update={"state": "rejected", "decided_at": datetime.now(UTC)})
            )
        if request.edits:
            # The customer confirms what was shown; other values would be another call.
            fixed_text = TEXTS["action.fixed"].in_language(language)
            faults = [FieldFault(field=f"edits.{name}", message=fixed_text) for name in sorted(request.edits)]
            message = f"{', '.join(sorted(request.edits))}: {fixed_text}"
            raise RpcError(ErrorCode.BAD_FIELD, message, fields=faults)
        now = datetime.now(UTC)
        running = call.model_copy(update={"state": "running", "begun_at": now, "decided_at": now})
        if not await self._store_swap(key, raw, running):
            return await self.decide(request)
        return await self._store_end(request, running.to_json(), await self._run(request, running, language))

    async def pending(self, user_ref: UserRef) -> PendingActionsReply:
        """Returns the actions that wait for this user's confirmation."""
        with unavailable_errors():
            calls = await self._all(_key(user_ref.company_id, user_ref.user_id))
        return PendingActionsReply(actions=[_action(call) for call in calls if _with_expiry(call).state == "pending"])

    async def states(self, request: ActionsRequest) -> ActionsReply:
        """Returns the state of the requested actions, as far as they belong to this user."""
        with unavailable_errors():
            calls = await self._all(_key(request.company_id, request.user_id))
        return ActionsReply(actions=[_action(call) for call in calls if call.id in request.action_ids])

    async def _run(self, request: ActionDecideRequest, call: HeldCall, language: str) -> HeldCall:
        """Runs the call, if the tool has not changed since the call was shown; returns the call with its outcome."""

        def failed(reason: str, text: str | None = None) -> HeldCall:
            return call.model_copy(update={"state": "failed", "reason": reason, "result": text})

        try:
            await self._companies.tools_of(request.company_id)
        except ToolUnavailableError:
            return failed("unavailable")
        tool = self._catalogue().runs(request.company_id).get(call.tool)
        if tool is None or tool.version != call.version:
            return failed("changed")
        caller = VerifiedCaller(
            company=request.company_id,
            user=request.user_id,
            role=call.role,
            plan=plan_of(call.plan),
            language=language,
            conversation=call.conversation,
        )
        context = CallContext(call.id, caller, None, tool.time_limit)
        try:
            async with asyncio.timeout(tool.time_limit):
                data = await cast("Handler", tool.handler)(call.arguments, context)
        except TimeoutError:
            return failed(OUTCOME_UNKNOWN)
        except ToolFailedError as error:
            return failed(error.reason, in_language(error.message, language))
        except ToolRefusedError as error:
            return failed("refused", str(error)[:_MAX_RESULT_CHARS])
        except Exception as fault:
            log.error("tool.fault", tool=call.tool, call_id=call.id, kind=type(fault).__name__, exc_info=fault)
            return failed(OUTCOME_UNKNOWN)
        text = _in_words(data["result"])[:_MAX_RESULT_CHARS]
        return call.model_copy(update={"state": "confirmed", "result": text})

    async def _store_end(self, request: ActionDecideRequest, raw: bytes, call: HeldCall) -> ActionReply:
        """Stores and publishes the end of the call, and returns the action. If another process has ended it meanwhile,
        that end counts."""
        key = _key(request.company_id, request.user_id)
        if not await self._store_swap(key, raw, call):
            _, call = await self._load(key, call.id)
            return ActionReply(action=_action(call))
        decided = ActionDecided(
            company_id=request.company_id,
            user_id=request.user_id,
            conversation_id=call.conversation,
            action=_action(call),
            decided_at=call.decided_at or datetime.now(UTC),
        )
        identity = derive_id(request.company_id, request.user_id, call.id, call.state)
        event = ActionEvent(id=identity, source="/nexus/tool-executor", type=DECIDED, data=decided)
        try:
            subject = fact(DECIDED, request.company_id, request.user_id)
            await self._publisher.append(subject, event, stream="FACTS", msg_id=identity, deadline=_LOG_SECONDS)
        except PublishFailedError as error:
            # The reply still informs whoever decided; others see the decision when they open the chat.
            log.warning("tool.decision_not_told", action=call.id, error=str(error))
        return ActionReply(action=_action(call))

    async def _load(self, key: str, action: str) -> tuple[bytes, HeldCall]:
        with unavailable_errors():
            raw: bytes | None = await self._store.command("HGET", key, action)
        if raw is None:
            raise RpcError(ErrorCode.NOT_FOUND, f"there is no action {action!r} of yours")
        return raw, HeldCall.model_validate_json(raw)

    async def _all(self, key: str) -> list[HeldCall]:
        raw_calls: list[bytes] = await self._store.command("HVALS", key)
        calls = [HeldCall.model_validate_json(call) for call in raw_calls]
        return sorted(calls, key=lambda call: call.expires_at)

    async def _store_swap(self, key: str, raw: bytes, call: HeldCall) -> bool:
        with unavailable_errors():
            return await self._swap(key, raw, call)

    async def _swap(self, key: str, expected: bytes, call: HeldCall) -> bool:
        answer = await self._store.run(_SWAP, key, call.id, expected, call.to_json(), KEPT_SECONDS, _MAX_STORED)
        if int(answer) < 0:
            raise ToolFailedError("too_many_waiting", TEXTS["call.too_many_waiting"])
        return int(answer) == 1


def _key(company: str, user: str) -> str:
    return f"tool:action:{company}:{user}"


def _with_expiry(call: HeldCall) -> HeldCall:
    is_expired = call.state == "pending" and call.expires_at <= datetime.now(UTC)
    return call.model_copy(update={"state": "expired", "decided_at": call.expires_at}) if is_expired else call


def _in_words(value: object) -> str:
    """An object as its fields, `name: value, …`, for the customer to read; what is deeper in it as JSON."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_text(field)}" for name, field in cast("dict[str, object]", value).items())
    return _text(value)


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _summary(call: HeldCall) -> str:
    arguments = _in_words(call.arguments)
    return f"{call.tool} ({arguments})"[:500] if arguments else call.tool


def _action(call: HeldCall) -> Action:
    call = _with_expiry(call)
    details: dict[str, object] = {"tool": call.tool, "arguments": call.arguments, "status": call.state}
    if call.conversation is not None:
        details["conversationId"] = call.conversation
    if call.decided_at is not None:
        details["decidedAt"] = call.decided_at
    if call.reason is not None:
        details["reason"] = call.reason
    if call.result is not None:
        details["outcome"] = call.result
    # A running call has been confirmed.
    state = ActionState.CONFIRMED if call.state == "running" else ActionState(call.state)
    return Action(
        id=call.id, kind=ACTION_KIND, state=state, summary=_summary(call), details=details, expires_at=call.expires_at
    )
