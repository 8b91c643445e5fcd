"""For tests: a stand-in for the data that memory and the market store about users."""

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from nats.aio.client import Client
from pydantic import ValidationError

from contracts import conversation_rpc, erasure_rpc, insight_rpc, market_rpc, memory_rpc, report_rpc
from contracts.channels import fact
from contracts.enumerations import INPUT_CONTEXT
from contracts.envelope import Wire
from contracts.errors import ErrorCode, FieldFault
from contracts.events.chat import Action, ActionState
from contracts.events.market import TriggeredAlert
from contracts.merge_patch import merged
from contracts.text import Text
from gateway.testing.harness import conversation_view
from runtime.bus.publisher import event_json
from runtime.calls.rpc import RpcServer
from runtime.errors import RpcError

User = tuple[str, str]
FIGURES: dict[str, Any] = {
    "conversations": 4, "answeredByAi": 2, "resolvedByAi": 1, "handedOver": 1, "firstAnswerSeconds": 1.5, "rated": 2,
    "csat": 4.5, "cost": 0.02, "costPerConversation": 0.005, "costPerResolution": 0.02, "unpriced": 0,
    "promptTokens": 900, "completionTokens": 90, "tools": 3, "gaps": 1,
}  # fmt: skip


@dataclass
class RecordsStandIn:
    """Stores users' data by company and user. Usage is the same for every day."""

    client: Client
    remembered: dict[User, memory_rpc.LongTermMemory] = field(default_factory=dict[User, memory_rpc.LongTermMemory])
    forgotten: list[User] = field(default_factory=list[User])
    receipts: dict[User, erasure_rpc.Receipt] = field(default_factory=dict[User, erasure_rpc.Receipt])
    usage_requests: list[memory_rpc.UsageRequest] = field(default_factory=list[memory_rpc.UsageRequest])
    report_requests: list[report_rpc.ReportRequest] = field(default_factory=list[report_rpc.ReportRequest])
    actions: dict[str, tuple[User, Action]] = field(default_factory=dict[str, tuple[User, Action]])
    unreported_actions: list[str] = field(default_factory=list[str])
    unreported_alerts: dict[User, list[TriggeredAlert]] = field(default_factory=dict[User, list[TriggeredAlert]])
    reported_ids: list[str] = field(default_factory=list[str])
    unreported_requests: int = 0
    correction_ids: list[str | None] = field(default_factory=list[str | None])
    """Request ids of all received corrections."""
    correction_digests: dict[str, str | None] = field(default_factory=dict[str, str | None])
    """Digest of the body by request id."""
    daily_tokens: int | None = None
    """The company's budget, of which 100 are used."""
    unavailable: bool = False
    """Whether corrections fail because the store does not answer."""

    def __post_init__(self) -> None:
        self.market = RpcServer(self.client)

    async def start(self) -> None:
        """Starts answering."""
        memory = RpcServer(self.client)
        await memory.serve(memory_rpc.USAGE, self._usage)
        await memory.serve(insight_rpc.INSIGHTS, self._insights)
        await memory.serve(report_rpc.REPORT, self._report)
        await memory.serve(report_rpc.REPORT_OPEN, self._behind)
        await memory.serve(report_rpc.RATING, self._rating)
        await memory.serve(memory_rpc.MEMORY_GET, self._get)
        await memory.serve(memory_rpc.MEMORY_PATCH, self._patch)
        await memory.serve(memory_rpc.MEMORY_DELETE, self._delete)
        await memory.serve(memory_rpc.MEMORY_EXPORT, self._export)
        await memory.serve(erasure_rpc.ERASE, self._erase)
        await memory.serve(erasure_rpc.RECEIPT, self._receipt)
        await memory.serve(erasure_rpc.RECEIPTS, self._receipts)
        await memory.serve(erasure_rpc.KEEPING, self._keeping)
        await self.market.serve(market_rpc.HOLDINGS, self._holdings)
        await self.market.serve(market_rpc.ACTION_DECIDE, self._decide)
        await self.market.serve(market_rpc.ACTIONS_PENDING, self._pending)
        await self.market.serve(market_rpc.ACTIONS_GET, self._known)
        await self.market.serve(market_rpc.ALERTS_UNTOLD, self._untold)
        await self.market.serve(market_rpc.ALERTS_TOLD, self._told)
        await self.client.flush()

    async def _usage(self, request: memory_rpc.UsageRequest) -> memory_rpc.UsageReply:
        self.usage_requests.append(request)
        day = memory_rpc.UsageDay(date=request.until, turns=2, prompt_tokens=90, completion_tokens=10, cost=0.01)
        return memory_rpc.UsageReply(
            days=[day], budget=memory_rpc.UsageBudget(daily_tokens=self.daily_tokens, used_today=100)
        )

    async def _insights(self, request: insight_rpc.InsightsRequest) -> insight_rpc.InsightsReply:
        day = insight_rpc.InsightsDay(
            date=request.until, conversations=4, answers=9, handed_off=1, failed=0, thumbs_up=2, thumbs_down=1
        )
        return insight_rpc.InsightsReply(days=[day], complaints=[])

    async def _report(self, request: report_rpc.ReportRequest) -> report_rpc.ReportReply:
        self.report_requests.append(request)
        total = report_rpc.ReportFigures.model_validate(FIGURES)
        row = report_rpc.ReportRow(key="=1+1" if request.by == "user" else "2026-01-31", **total.model_dump())
        return report_rpc.ReportReply(rows=[row], total=total)

    async def _behind(self, request: report_rpc.ReportOpenRequest) -> report_rpc.ReportOpenReply:
        self.report_requests.append(request)
        return report_rpc.ReportOpenReply(conversation_ids=["c1"])

    async def _rating(self, request: conversation_rpc.ConversationRef) -> report_rpc.RatingReply:
        return report_rpc.RatingReply()

    async def _get(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryReply:
        stored = self.remembered.get((request.company_id, request.user_id), memory_rpc.LongTermMemory())
        return memory_rpc.MemoryReply(memory=stored, version=str(len(self.correction_ids)))

    async def _patch(self, request: memory_rpc.MemoryPatchRequest) -> memory_rpc.MemoryReply:
        version = str(len(self.correction_ids))
        self.correction_ids.append(request.request_id)
        if request.over not in (None, version):
            raise RpcError(ErrorCode.PRECONDITION_FAILED, "it has changed since: read it again")
        if self.unavailable:
            raise RpcError(ErrorCode.UNAVAILABLE, "the store does not answer")
        if self.correction_digests.setdefault(request.request_id or "", request.body) != request.body:
            raise RpcError(ErrorCode.CONFLICT, "it was used for another correction")
        user = (request.company_id, request.user_id)
        stored = self.remembered.get(user, memory_rpc.LongTermMemory())
        try:
            changed = memory_rpc.LongTermMemory.model_validate(
                merged(stored.to_wire(), request.patch), context=INPUT_CONTEXT
            )
        except ValidationError as error:
            faults = [FieldFault(field=str(fault["loc"][0]), message=fault["msg"]) for fault in error.errors()]
            raise RpcError(ErrorCode.BAD_FIELD, "wrong", fields=faults) from error
        self.remembered[user] = changed
        return memory_rpc.MemoryReply(memory=changed)

    async def _delete(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryDeleteReply:
        deleted = self.remembered.pop((request.company_id, request.user_id), None)
        return memory_rpc.MemoryDeleteReply(deleted=deleted is not None)

    async def _export(self, request: memory_rpc.MemoryExportRequest) -> memory_rpc.MemoryExportReply:
        page = int(request.cursor or 0)
        view = conversation_view(f"c{page}", request.company_id, request.user_id)
        message = conversation_rpc.MessageView.model_validate(
            {"id": f"m{page}", "seq": 1, "role": "user", "text": "hi", "createdAt": datetime(2026, 1, 1, tzinfo=UTC)}
        )
        stored = self.remembered.get((request.company_id, request.user_id), memory_rpc.LongTermMemory())
        return memory_rpc.MemoryExportReply(
            memory=stored if page == 0 else None,
            conversations=[memory_rpc.ExportedConversation(conversation=view, messages=[message])],
            next=str(page + 1) if page < 2 else None,
        )

    async def _erase(self, request: erasure_rpc.EraseRequest) -> erasure_rpc.EraseReply:
        self.forgotten.append((request.company_id, request.name))
        receipt = _receipt(request.receipt_id, request.kind, request.by)
        self.receipts[request.company_id, request.receipt_id] = receipt
        return erasure_rpc.EraseReply(receipt=receipt)

    async def _receipt(self, request: erasure_rpc.ReceiptRef) -> erasure_rpc.ReceiptReply:
        return erasure_rpc.ReceiptReply(receipt=self.receipts.get((request.company_id, request.receipt_id)))

    async def _receipts(self, request: erasure_rpc.ReceiptsRequest) -> erasure_rpc.ReceiptsReply:
        items = [receipt for (company, _), receipt in self.receipts.items() if company == request.company_id]
        return erasure_rpc.ReceiptsReply(items=items)

    async def _keeping(self, request: erasure_rpc.KeepingRequest) -> erasure_rpc.Keeping:
        del request
        nothing_outdated = erasure_rpc.Outdated(count=0)
        next_run = datetime(2026, 1, 2, 3, tzinfo=UTC)
        outdated = erasure_rpc.Outdated(days=30, before=next_run, count=7)
        return erasure_rpc.Keeping(
            next_run=next_run, conversations=outdated, files=nothing_outdated, traces=nothing_outdated
        )

    async def _holdings(self, request: memory_rpc.UserRef) -> market_rpc.Holdings:
        return market_rpc.Holdings(portfolio={"cash": 1}, alerts=[], watchlist=[request.user_id])

    def add_action(self, company: str, user: str, action: str) -> None:
        """Adds an action that waits for this user's yes."""
        expires = datetime.now(UTC) + timedelta(minutes=5)
        pending_action = Action(
            id=action, kind="paper_order", state=ActionState.PENDING, summary="Buy 1 AAPL", expires_at=expires
        )
        self.actions[action] = ((company, user), pending_action)

    async def _decide(self, request: market_rpc.ActionDecideRequest) -> market_rpc.ActionReply:
        owner, action = self.actions.get(request.action_id, (None, None))
        if action is None or owner is None or owner != (request.company_id, request.user_id):
            message = Text(es="no tienes esa acción", en="there is no such action of yours")
            raise RpcError(ErrorCode.NOT_FOUND, message.in_language(request.language or "en"))
        if action.state is ActionState.PENDING:
            if (edits := request.edits or {}).keys() - (action.editable or {}).keys():
                raise RpcError(ErrorCode.BAD_FIELD, "edits: cannot be changed here")
            state = ActionState.CONFIRMED if request.decision == "confirm" else ActionState.REJECTED
            details = action.details | edits | {"decidedAt": datetime.now(UTC).isoformat()}
            action = action.model_copy(update={"state": state, "details": details, "editable": None})
            self.actions[request.action_id] = (owner, action)
        return market_rpc.ActionReply(action=action)

    async def _pending(self, request: memory_rpc.UserRef) -> market_rpc.PendingActionsReply:
        actions = [action for action in self._actions_of(request) if action.state is ActionState.PENDING]
        return market_rpc.PendingActionsReply(actions=actions)

    async def _known(self, request: market_rpc.ActionsRequest) -> market_rpc.ActionsReply:
        actions = [action for action in self._actions_of(request) if action.id in request.action_ids]
        return market_rpc.ActionsReply(actions=actions)

    def _actions_of(self, request: memory_rpc.UserRef | market_rpc.ActionsRequest) -> list[Action]:
        user = (request.company_id, request.user_id)
        return [action for owner, action in self.actions.values() if owner == user]

    async def _untold(self, request: memory_rpc.UserRef) -> market_rpc.UntoldAlertsReply:
        self.unreported_requests += 1
        alerts = self.unreported_alerts.get((request.company_id, request.user_id), [])
        actions = [action for action in self._actions_of(request) if action.id in self.unreported_actions]
        return market_rpc.UntoldAlertsReply(alerts=alerts, actions=actions)

    async def _told(self, request: market_rpc.AlertsToldRequest) -> market_rpc.AlertsToldReply:
        self.reported_ids.extend([*request.alert_ids, *request.action_ids])
        self.unreported_actions = [
            action_id for action_id in self.unreported_actions if action_id not in request.action_ids
        ]
        alerts = self.unreported_alerts.get((request.company_id, request.user_id), [])
        self.unreported_alerts[request.company_id, request.user_id] = [
            alert for alert in alerts if alert.id not in request.alert_ids
        ]
        return market_rpc.AlertsToldReply(told=len(request.alert_ids))


async def tell(client: Client, kind: str, user: str, data: Wire) -> None:
    """Publishes a fact of the market about a user of acme."""
    event = event_json(kind, "/nexus/market-adapter", data.to_wire(), subject=f"acme/{user}")
    await client.publish(fact(kind, "acme", user), event)


def _receipt(name: str, kind: erasure_rpc.ErasureKind, erased_by: erasure_rpc.ErasedBy) -> erasure_rpc.Receipt:
    time = datetime(2026, 1, 1, tzinfo=UTC)
    chat = erasure_rpc.Removed(place="stream CHAT", removed=2, gone_after=time, remains="freed_space")
    return erasure_rpc.Receipt(
        receipt_id=name, kind=kind, by=erased_by, state="running", conversations=1, requested_at=time, removed=[chat]
    )
