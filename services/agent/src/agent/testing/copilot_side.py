"""Stands in for memory and the market-adapter on the agent's stage, for one customer."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from contracts import market_rpc, memory_rpc
from contracts.context_rpc import (
    CONTEXT,
    SUMMARY_SAVE,
    ContextConversation,
    ContextRequest,
    ContextUser,
    FullContext,
    Summary,
    SummarySaved,
    SummarySaveRequest,
)
from contracts.conversation_rpc import HistoryMessage
from contracts.events.chat import Action, ActionState
from contracts.ids import derive_id
from contracts.memory_rpc import LongTermMemory
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError


@dataclass
class CopilotSide:
    """One customer's data. `context`: the rest of every context, besides user and conversation; `away`: every method
    fails as unavailable; `meanwhile`: each read of the memory replaces it afterwards with the next of these, as if
    somebody else had changed it."""

    memory: LongTermMemory = field(default_factory=LongTermMemory)
    actions: dict[str, Action] = field(default_factory=dict[str, Action])
    decided: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    context: FullContext = field(default_factory=FullContext)
    messages: list[HistoryMessage] = field(default_factory=list[HistoryMessage])
    summaries: list[Summary] = field(default_factory=list[Summary])
    asked: list[ContextRequest] = field(default_factory=list[ContextRequest])
    away: bool = False
    meanwhile: list[LongTermMemory] = field(default_factory=list[LongTermMemory])

    async def serve(self, server: RpcServer) -> None:
        """Serves the methods that the agent calls."""
        await server.serve(CONTEXT, self._get_context)
        await server.serve(SUMMARY_SAVE, self._save_summary)
        await server.serve(memory_rpc.MEMORY_GET, self._get_memory)
        await server.serve(memory_rpc.MEMORY_MEANT, self._find_meant_facts)
        await server.serve(memory_rpc.MEMORY_PATCH, self._patch_memory)
        await server.serve(memory_rpc.MEMORY_DELETE, self._delete_memory)
        await server.serve(market_rpc.ACTION_DECIDE, self._decide_action)
        await server.serve(market_rpc.ACTIONS_PENDING, self._pending_actions)

    def order(self, action_id: str, symbol: str = "AAPL", summary: str | None = None, **details: Any) -> dict[str, Any]:
        """Adds a pending order and returns the result of the create_paper_order call that made it."""
        fields = {"symbol": symbol, "side": "buy", "orderType": "market", "quantity": "5", "status": "pending"}
        fields["conversationId"] = "c1"
        summary = summary or f"Buy 5 {symbol} at market (paper)"
        self.actions[action_id] = Action(
            id=action_id,
            kind="paper_order",
            state=ActionState.PENDING,
            summary=summary,
            details={**fields, "contentHash": f"hash-{action_id}", **details},
        )
        return {
            "action_id": action_id,
            "status": "pending_confirmation",
            "order": {"symbol": symbol, "side": "buy", "order_type": "market", "quantity": 5.0},
            "estimate": {"price": 10.0, "amount": 50.0, "cash_after": 99_950.0, "currency": "USD"},
            "summary": summary,
            "content_hash": f"hash-{action_id}",
            "expires_at": "2030-01-01T00:00:00Z",
        }

    async def _get_context(self, request: ContextRequest) -> FullContext:
        self._require_available()
        self.asked.append(request)
        summary = self.summaries[-1] if self.summaries else None
        covered = summary.up_to_seq if summary else 0
        recent = [message for message in self.messages if covered < message.seq <= request.up_to_seq][-request.limit :]
        conversation = ContextConversation(
            id=request.conversation_id, recent_messages=recent, up_to_seq=request.up_to_seq, summary=summary
        )
        user = ContextUser(id=request.user_id, plan=request.plan, preferences=self.memory.preferences)
        return self.context.model_copy(update={"user": user, "conversation": conversation})

    async def _save_summary(self, request: SummarySaveRequest) -> SummarySaved:
        self._require_available()
        version = self.summaries[-1].version if self.summaries else None
        if request.over != version:
            return SummarySaved(saved=False, summary=self.summaries[-1] if self.summaries else None)
        summary = Summary(
            text=request.text,
            up_to_seq=request.up_to_seq,
            messages=request.messages,
            version=f"v{len(self.summaries) + 1}",
            updated_at=datetime.now(UTC),
        )
        self.summaries.append(summary)
        return SummarySaved(saved=True, summary=summary)

    async def _get_memory(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryReply:
        self._require_available()
        reply = memory_rpc.MemoryReply(memory=self.memory, version=self._version())
        if self.meanwhile:
            self.memory = self.meanwhile.pop(0)
        return reply

    async def _find_meant_facts(self, request: memory_rpc.MeantRequest) -> memory_rpc.MeantReply:
        """Finds the facts whose text the request contains, or whose id it is."""
        self._require_available()
        about = f" {request.about.lower()} "
        facts_by_field = {"userNotes": self.memory.user_notes, "preferences": self.memory.preferences}
        meant = [
            fact
            for facts in facts_by_field.values()
            for fact in facts
            if f" {fact.lower()} " in about or memory_rpc.fact_id(fact) == request.about
        ]
        patch = {name: [fact for fact in facts if fact not in meant] for name, facts in facts_by_field.items()}
        reply = memory_rpc.MeantReply(version=self._version(), patch=patch if meant else {}, texts=meant)
        if self.meanwhile:
            self.memory = self.meanwhile.pop(0)
        return reply

    async def _patch_memory(self, request: memory_rpc.MemoryPatchRequest) -> memory_rpc.MemoryReply:
        self._require_available()
        if request.over not in (None, self._version()):
            raise RpcError("PRECONDITION_FAILED", "changed meanwhile")
        wire = {**self.memory.to_wire(), **request.patch}
        corrects = request.corrects or {}
        for name in ("userNotes", "preferences"):
            wire[name] = [corrects.get(fact, fact) for fact in wire.get(name) or ()]
        fields = {name: value for name, value in wire.items() if value is not None}
        self.memory = LongTermMemory.model_validate(fields)
        return memory_rpc.MemoryReply(memory=self.memory)

    async def _delete_memory(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryDeleteReply:
        self._require_available()
        self.memory = LongTermMemory()
        return memory_rpc.MemoryDeleteReply(deleted=True)

    async def _pending_actions(self, request: memory_rpc.UserRef) -> market_rpc.PendingActionsReply:
        self._require_available()
        pending = [action for action in self.actions.values() if action.state is ActionState.PENDING]
        return market_rpc.PendingActionsReply(actions=pending)

    async def _decide_action(self, request: market_rpc.ActionDecideRequest) -> market_rpc.ActionReply:
        self._require_available()
        action = self.actions.get(request.action_id)
        if action is None:
            raise RpcError("NOT_FOUND", "no such action")
        if request.content_hash not in (None, action.details["contentHash"]):
            raise RpcError("CONFLICT", "not what was shown")
        if action.state is ActionState.PENDING:
            self.decided.append((request.action_id, request.decision))
            is_confirmed = request.decision == "confirm"
            state, status = (ActionState.CONFIRMED, "open") if is_confirmed else (ActionState.REJECTED, "rejected")
            action = action.model_copy(update={"state": state, "details": {**action.details, "status": status}})
            self.actions[request.action_id] = action
        return market_rpc.ActionReply(action=action)

    def _version(self) -> str:
        return derive_id(self.memory.to_json().decode())

    def _require_available(self) -> None:
        if self.away:
            raise RpcError("UNAVAILABLE", "away", retryable=True)
