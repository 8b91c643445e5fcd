"""Calls of companies' own tools that wait for a customer's confirmation: stored in Redis, made once, and published.

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
from tool_executor.adapters.redis_store import RedisStore, Script
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
WAITING = timedelta(hours=1)
KEPT_SECONDS = 86_400
"""Seconds for which an action is known, decided or not."""
MOST_WAITING = 20
"""The most actions of one customer that may wait."""
_LONGEST_RUN = timedelta(seconds=45)
"""Longer than any call may take: if a call runs for longer, its executor is gone."""
_LOG_SECONDS = 3.0
"""Seconds for the fact of a decision to be stored."""
_SHOWN = 1_000
"""Characters of a result in an action's details."""

# One field changes only over the value that was read; the key lives on with each change.
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
_MOST_KEPT = 200


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
    result: str | None = Field(default=None, description="what came of it, in words")
    reason: str | None = None


class OwnActions:
    """Keeps and runs the calls of own tools that a customer has to confirm."""

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
        """A handler that keeps the call and says what waits."""

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
                expires_at=datetime.now(UTC) + WAITING,
            )
            key = _key(caller.company, caller.user)
            try:
                waiting = [one for one in await self._all(key) if _now(one).state == "pending" and one.id != call.id]
                if len(waiting) >= MOST_WAITING:
                    raise ToolFailedError("too_many_waiting", TEXTS["call.too_many_waiting"])
                await self._swap(key, call.id, b"", call)
            except RedisUnavailableError as away:
                raise ToolUnavailableError(str(away)) from away
            return {
                "action_id": call.id,
                "status": "pending_confirmation",
                "summary": _summary(call),
                "arguments": dict(arguments),
                "expires_at": call.expires_at.isoformat(),
            }

        return handle

    async def decide(self, asked: ActionDecideRequest) -> ActionReply:
        """The action after the decision; the first one stands. Raises RpcError."""
        key, language = _key(asked.company_id, asked.user_id), asked.language or "en"
        raw, call = await self._found(key, asked.action_id)
        if call.state == "running":
            if datetime.now(UTC) - (call.begun_at or call.expires_at) < _LONGEST_RUN:
                raise RpcError(ErrorCode.UNAVAILABLE, TEXTS["action.running"].in_language(language), retryable=True)
            return await self._ended(asked, raw, call.model_copy(update={"state": "failed", "reason": OUTCOME_UNKNOWN}))
        if call.state != "pending":
            return ActionReply(action=_action(call))
        if caller_has_gone():
            raise RpcError(ErrorCode.TIMEOUT, TEXTS["action.late"].in_language(language), retryable=True)
        if _now(call).state == "expired" or asked.decision == "reject":
            state = "expired" if _now(call).state == "expired" else "rejected"
            return await self._ended(asked, raw, call.model_copy(update={"state": state}))
        if asked.edits:
            # What is said yes to is what was shown: other values would be another call.
            fixed = TEXTS["action.fixed"].in_language(language)
            faults = [FieldFault(field=f"edits.{name}", message=fixed) for name in sorted(asked.edits)]
            told = f"{', '.join(sorted(asked.edits))}: {fixed}"
            raise RpcError(ErrorCode.BAD_FIELD, told, fields=faults)
        running = call.model_copy(update={"state": "running", "begun_at": datetime.now(UTC)})
        if not await self._store_swap(key, raw, running):
            return await self.decide(asked)
        return await self._ended(asked, running.to_json(), await self._made(asked, running, language))

    async def pending(self, asked: UserRef) -> PendingActionsReply:
        """Returns the actions that wait for this user's yes."""
        found = await self._listed(_key(asked.company_id, asked.user_id))
        return PendingActionsReply(actions=[_action(one) for one in found if _now(one).state == "pending"])

    async def states(self, asked: ActionsRequest) -> ActionsReply:
        """The state of these actions, as far as they belong to this user."""
        found = await self._listed(_key(asked.company_id, asked.user_id))
        return ActionsReply(actions=[_action(one) for one in found if one.id in asked.action_ids])

    async def _made(self, asked: ActionDecideRequest, call: HeldCall, language: str) -> HeldCall:
        """Makes the call, if the tool has not changed since it was shown."""

        def failed(reason: str, words: str | None = None) -> HeldCall:
            return call.model_copy(update={"state": "failed", "reason": reason, "result": words})

        try:
            await self._companies.tools_of(asked.company_id)
        except ToolUnavailableError:
            return failed("unavailable")
        tool = self._catalogue().runs(asked.company_id).get(call.tool)
        if tool is None or tool.version != call.version:
            return failed("changed")
        caller = VerifiedCaller(
            company=asked.company_id,
            user=asked.user_id,
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
            return failed("refused", str(error)[:_SHOWN])
        except Exception as fault:
            log.error("tool.fault", tool=call.tool, call_id=call.id, kind=type(fault).__name__, exc_info=fault)
            return failed(OUTCOME_UNKNOWN)
        result = data["result"]
        words = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
        return call.model_copy(update={"state": "confirmed", "result": words[:_SHOWN]})

    async def _ended(self, asked: ActionDecideRequest, raw: bytes, call: HeldCall) -> ActionReply:
        """Stores and publishes how the call ended, and returns it. If another process has ended it meanwhile, that
        stands."""
        if not await self._store_swap(_key(asked.company_id, asked.user_id), raw, call):
            return ActionReply(action=_action((await self._found(_key(asked.company_id, asked.user_id), call.id))[1]))
        decided = ActionDecided(
            company_id=asked.company_id,
            user_id=asked.user_id,
            conversation_id=call.conversation,
            action=_action(call),
            decided_at=datetime.now(UTC),
        )
        identity = derive_id(asked.company_id, asked.user_id, call.id, call.state)
        event = ActionEvent(id=identity, source="/nexus/tool-executor", type=DECIDED, data=decided)
        try:
            subject = fact(DECIDED, asked.company_id, asked.user_id)
            await self._publisher.append(subject, event, stream="FACTS", msg_id=identity, deadline=_LOG_SECONDS)
        except PublishFailedError as error:
            # Whoever has decided is told by the reply; the others see it when they open the chat.
            log.warning("tool.decision_not_told", action=call.id, error=str(error))
        return ActionReply(action=_action(call))

    async def _found(self, key: str, action: str) -> tuple[bytes, HeldCall]:
        try:
            raw: bytes | None = await self._store.command("HGET", key, action)
        except RedisUnavailableError as away:
            raise _away(away) from away
        if raw is None:
            raise RpcError(ErrorCode.NOT_FOUND, f"there is no action {action!r} of yours")
        return raw, HeldCall.model_validate_json(raw)

    async def _listed(self, key: str) -> list[HeldCall]:
        try:
            return await self._all(key)
        except RedisUnavailableError as away:
            raise _away(away) from away

    async def _all(self, key: str) -> list[HeldCall]:
        found: list[bytes] = await self._store.command("HVALS", key)
        calls = [HeldCall.model_validate_json(one) for one in found]
        return sorted(calls, key=lambda one: one.expires_at)

    async def _store_swap(self, key: str, raw: bytes, call: HeldCall) -> bool:
        try:
            return await self._swap(key, call.id, raw, call)
        except RedisUnavailableError as away:
            raise _away(away) from away

    async def _swap(self, key: str, action: str, over: bytes, call: HeldCall) -> bool:
        done = await self._store.run(_SWAP, key, action, over, call.to_json(), KEPT_SECONDS, _MOST_KEPT)
        if int(done) < 0:
            raise ToolFailedError("too_many_waiting", TEXTS["call.too_many_waiting"])
        return int(done) == 1


def _key(company: str, user: str) -> str:
    return f"tool:action:{company}:{user}"


def _away(away: RedisUnavailableError) -> RpcError:
    return RpcError(ErrorCode.UNAVAILABLE, f"{away}: try again", retryable=True)


def _now(call: HeldCall) -> HeldCall:
    over = call.state == "pending" and call.expires_at <= datetime.now(UTC)
    return call.model_copy(update={"state": "expired"}) if over else call


def _summary(call: HeldCall) -> str:
    given = ", ".join(f"{name}: {value}" for name, value in call.arguments.items())
    return f"{call.tool} ({given})"[:500] if given else call.tool


def _action(call: HeldCall) -> Action:
    call = _now(call)
    details: dict[str, object] = {"tool": call.tool, "arguments": call.arguments, "status": call.state}
    if call.conversation is not None:
        details["conversationId"] = call.conversation
    if call.reason is not None:
        details["reason"] = call.reason
    if call.result is not None:
        details["outcome"] = call.result
    # While it is being done it has been said yes to.
    state = ActionState.CONFIRMED if call.state == "running" else ActionState(call.state)
    return Action(
        id=call.id, kind=ACTION_KIND, state=state, summary=_summary(call), details=details, expires_at=call.expires_at
    )
