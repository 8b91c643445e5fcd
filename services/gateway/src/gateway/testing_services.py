"""For tests: stand-ins for what the services behind the door answer to admins, human agents and customers."""

import asyncio
import copy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
from nats.aio.client import Client
from pydantic import ValidationError

from contracts import (
    agent_rpc,
    company_rpc,
    completion_rpc,
    erasure_rpc,
    failed_rpc,
    insight_rpc,
    market_rpc,
    memory_rpc,
    report_rpc,
    rpc,
    trying_rpc,
)
from contracts.channels import fact
from contracts.company import CompanyConfig, CompanySettings, faults, read_config
from contracts.enumerations import AT_THE_DOOR
from contracts.errors import ErrorCode, FieldFault
from contracts.events.chat import Action, ActionState, Usage
from contracts.events.market import TriggeredAlert
from contracts.merge_patch import merged, merged_settings
from contracts.text import Text
from gateway.testing import conversation_view
from gateway.testing_own_tools import serve_own_tools
from runtime.errors import RpcError
from runtime.rpc import RpcServer
from runtime.streamed_calls import Outlet, StreamServer


@dataclass
class SettingsStandIn:
    """Keeps settings as memory does: made once, changed on their newest version, told on the bus."""

    client: Client
    companies: dict[str, CompanySettings]

    async def start(self) -> None:
        """Answers from now on."""
        server = RpcServer(self.client)
        await server.serve(company_rpc.COMPANY_CREATE, self._create)
        await server.serve(company_rpc.COMPANY_PATCH, self._patch)
        await server.serve(company_rpc.COMPANY_LIST, self._list)
        await server.serve(company_rpc.COMPANY_DELETE, self._delete)
        await self.client.flush()

    async def _list(self, request: company_rpc.CompaniesRequest) -> company_rpc.CompaniesReply:
        names = [name for name in sorted(self.companies) if name > request.after]
        items = [self.companies[name] for name in names[: request.limit]]
        return company_rpc.CompaniesReply(items=items, more=len(names) > len(items))

    async def _delete(self, request: company_rpc.CompanyRequest) -> company_rpc.CompanyDeleted:
        return company_rpc.CompanyDeleted(deleted=self.companies.pop(request.company_id, None) is not None)

    async def _create(self, request: company_rpc.CompanyCreateRequest) -> company_rpc.CompanySaved:
        config = CompanyConfig.model_validate(request.config)
        if config.company_id in self.companies:
            raise RpcError(ErrorCode.CONFLICT, "there are settings already")
        return await self._save(config, 1)

    async def _patch(self, request: company_rpc.CompanyPatchRequest) -> company_rpc.CompanySaved:
        old = self.companies[request.company_id]
        if old.version != request.version:
            raise RpcError(ErrorCode.PRECONDITION_FAILED, "the settings have moved on")
        before = old.config.model_dump(mode="json", by_alias=True)
        changed = merged_settings(copy.deepcopy(before), request.patch)
        if found := faults(changed, before):
            raise RpcError(ErrorCode.BAD_FIELD, "some settings are wrong", fields=found)
        config = read_config(changed)
        return await self._save(config, old.version + 1)

    async def _save(self, config: CompanyConfig, version: int) -> company_rpc.CompanySaved:
        settings = CompanySettings(config=config, version=version)
        self.companies[config.company_id] = settings
        subject = fact("company.config.changed.v1", config.company_id, None)
        await self.client.publish(subject, orjson.dumps({"data": settings.to_wire()}))
        return company_rpc.CompanySaved(settings=settings)


@dataclass
class WritersStandIn:
    """The agents' help; `error` is answered when there is one."""

    client: Client
    error: RpcError | None = None
    suggested: list[agent_rpc.SuggestRequest] = field(default_factory=list[agent_rpc.SuggestRequest])
    explained: list[trying_rpc.ExplainRequest] = field(default_factory=list[trying_rpc.ExplainRequest])
    improved: list[agent_rpc.ImproveRequest] = field(default_factory=list[agent_rpc.ImproveRequest])

    async def start(self) -> None:
        """Answers from now on."""
        server = RpcServer(self.client)
        await server.serve(agent_rpc.PROVIDERS, self._providers)
        await server.serve(agent_rpc.SUGGEST, self._suggest)
        await server.serve(agent_rpc.IMPROVE, self._improve)
        await server.serve(trying_rpc.PROMPT, self._prompt)
        await server.serve(trying_rpc.TRY, self._try)
        await server.serve(trying_rpc.SITE_CHECK, self._check)
        await serve_own_tools(server)
        await server.serve(trying_rpc.EXPLAIN, self._explain)
        await server.serve(failed_rpc.FAILED_TURNS, self._failed)
        await self.client.flush()

    async def _providers(self, _: agent_rpc.ProvidersRequest) -> agent_rpc.ProvidersReply:
        model = agent_rpc.ModelView(id="llama-3.3-70b-versatile", default=True, params="70B", context_window=131_072)
        scout = agent_rpc.ModelView(id="meta-llama/llama-4-scout-17b-16e-instruct", aliases=["scout"])
        groq = agent_rpc.ProviderView(id="groq", configured=False, models=[model, scout])
        own = agent_rpc.ProviderView(id="compatible", configured=False, models=[])
        return agent_rpc.ProvidersReply(providers=[groq, own])

    async def _suggest(self, request: agent_rpc.SuggestRequest) -> agent_rpc.SuggestReply:
        self.suggested.append(request)
        if self.error is not None:
            raise self.error
        return agent_rpc.SuggestReply(suggestions=["one", "two", "three"], model="scripted")

    async def _improve(self, request: agent_rpc.ImproveRequest) -> agent_rpc.ImproveReply:
        self.improved.append(request)
        if self.error is not None:
            raise self.error
        return agent_rpc.ImproveReply(text=request.text.upper(), model="scripted")

    async def _prompt(self, request: trying_rpc.PromptRequest) -> trying_rpc.PromptReply:
        text = request.config.custom_system_prompt or "the base"
        return trying_rpc.PromptReply(layers=[trying_rpc.PromptLayer(name="base", text=text)], tools=[], tokens=3)

    async def _try(self, request: trying_rpc.TryRequest) -> trying_rpc.TryReply:
        if self.error is not None:
            raise self.error
        text = f"{request.question} at {request.config.temperature}"
        return trying_rpc.TryReply(text=text, model="m", provider="p", tools=[], citations=[], usage=Usage())

    async def _check(self, request: trying_rpc.SiteCheckRequest) -> trying_rpc.SiteCheckReply:
        return trying_rpc.SiteCheckReply(allowed=request.address in request.tool_config.allowed_paths)

    async def _failed(self, request: failed_rpc.FailedTurnsRequest) -> failed_rpc.FailedTurnsReply:
        """One a page, for ever: its turn is called after the company and the place that was asked for."""
        turn = failed_rpc.FailedTurn(
            turn_id=f"{request.company_id}-{request.before or 100}",
            conversation_id="c1",
            basis=7,
            code="LLM_UNAVAILABLE",
            detail="no model",
            attempts=2,
            failed_at=datetime(2026, 1, 1, tzinfo=UTC),
            open=True,
        )
        return failed_rpc.FailedTurnsReply(items=[turn], before=(request.before or 100) - 1)

    async def _explain(self, request: trying_rpc.ExplainRequest) -> trying_rpc.ExplainReply:
        """Every turn is on record; the provider is whom it is asked for."""
        self.explained.append(request)
        turn = trying_rpc.ExplainedTurn(
            turn_id=request.turn_id,
            outcome="answered",
            model="m",
            provider=request.user_id or "nobody",
            config_version=1,
            usage=Usage(),
            latency_ms=5,
            attempts=1,
            discarded=0,
            offered=[],
            calls=[],
            citations=[],
            started_at=datetime(2026, 1, 1, tzinfo=UTC),
        )
        return trying_rpc.ExplainReply(turn=turn)


@dataclass
class CompletionsStandIn:
    """The agents' completions: says its texts, then ends or fails; `hold` keeps it silent before it begins."""

    client: Client
    texts: list[str] = field(default_factory=lambda: ["One ", "two."])
    end: completion_rpc.CompletionEnd = field(
        default_factory=lambda: completion_rpc.CompletionEnd(
            finish_reason="stop", model="scripted", usage=Usage(prompt_tokens=7, completion_tokens=2)
        )
    )
    error: RpcError | None = None
    hold: asyncio.Event | None = None
    asked: list[completion_rpc.CompleteRequest] = field(default_factory=list[completion_rpc.CompleteRequest])
    given_up: int = 0

    async def start(self) -> None:
        """Answers from now on."""
        await RpcServer(self.client).serve(completion_rpc.MODELS, self._models)
        await StreamServer(self.client).serve(completion_rpc.COMPLETE, self._complete)
        await self.client.flush()

    async def _models(self, _: completion_rpc.ModelsRequest) -> completion_rpc.ModelsReply:
        names = (("nexus", "nexus"), ("org/model-1", "groq"))
        return completion_rpc.ModelsReply(
            models=[completion_rpc.ModelName(id=name, provider=provider) for name, provider in names]
        )

    async def _complete(
        self, request: completion_rpc.CompleteRequest, outlet: Outlet[completion_rpc.CompletePart]
    ) -> None:
        self.asked.append(request)
        try:
            if self.hold is not None:
                await self.hold.wait()
            for text in self.texts:
                await outlet.send(completion_rpc.CompletePart(text=text))
        except asyncio.CancelledError:
            self.given_up += 1
            raise
        if self.error is not None:
            raise self.error
        await outlet.send(completion_rpc.CompletePart(end=self.end))


User = tuple[str, str]
FIGURES: dict[str, Any] = {
    "conversations": 4, "answeredByAi": 2, "resolvedByAi": 1, "handedOver": 1, "firstAnswerSeconds": 1.5, "rated": 2,
    "csat": 4.5, "cost": 0.02, "costPerConversation": 0.005, "costPerResolution": 0.02, "unpriced": 0,
    "promptTokens": 900, "completionTokens": 90, "tools": 3, "gaps": 1,
}  # fmt: skip


@dataclass
class RecordsStandIn:
    """What memory and the market keep of users, by company and user; usage is the same for every day."""

    client: Client
    remembered: dict[User, memory_rpc.LongTermMemory] = field(default_factory=dict[User, memory_rpc.LongTermMemory])
    forgotten: list[User] = field(default_factory=list[User])
    receipts: dict[User, erasure_rpc.Receipt] = field(default_factory=dict[User, erasure_rpc.Receipt])
    asked_usage: list[memory_rpc.UsageRequest] = field(default_factory=list[memory_rpc.UsageRequest])
    asked_reports: list[report_rpc.ReportRequest] = field(default_factory=list[report_rpc.ReportRequest])
    actions: dict[str, tuple[User, Action]] = field(default_factory=dict[str, tuple[User, Action]])
    untold_actions: list[str] = field(default_factory=list[str])
    untold: dict[User, list[TriggeredAlert]] = field(default_factory=dict[User, list[TriggeredAlert]])
    told: list[str] = field(default_factory=list[str])
    asked_untold: int = 0

    def __post_init__(self) -> None:
        self.market = RpcServer(self.client)

    async def start(self) -> None:
        """Answers from now on."""
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
        self.asked_usage.append(request)
        day = memory_rpc.UsageDay(date=request.until, turns=2, prompt_tokens=90, completion_tokens=10, cost=0.01)
        return memory_rpc.UsageReply(days=[day], budget=memory_rpc.UsageBudget(used_today=100))

    async def _insights(self, request: insight_rpc.InsightsRequest) -> insight_rpc.InsightsReply:
        day = insight_rpc.InsightsDay(
            date=request.until, conversations=4, answers=9, handed_off=1, failed=0, thumbs_up=2, thumbs_down=1
        )
        return insight_rpc.InsightsReply(days=[day], complaints=[])

    async def _report(self, request: report_rpc.ReportRequest) -> report_rpc.ReportReply:
        self.asked_reports.append(request)
        total = report_rpc.ReportFigures.model_validate(FIGURES)
        row = report_rpc.ReportRow(key="=1+1" if request.by == "user" else "2026-01-31", **total.model_dump())
        return report_rpc.ReportReply(rows=[row], total=total)

    async def _behind(self, request: report_rpc.ReportOpenRequest) -> report_rpc.ReportOpenReply:
        self.asked_reports.append(request)
        return report_rpc.ReportOpenReply(conversation_ids=["c1"])

    async def _rating(self, request: rpc.ConversationRef) -> report_rpc.RatingReply:
        return report_rpc.RatingReply()

    async def _get(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryReply:
        known = self.remembered.get((request.company_id, request.user_id), memory_rpc.LongTermMemory())
        return memory_rpc.MemoryReply(memory=known)

    async def _patch(self, request: memory_rpc.MemoryPatchRequest) -> memory_rpc.MemoryReply:
        who = (request.company_id, request.user_id)
        old = self.remembered.get(who, memory_rpc.LongTermMemory())
        try:
            new = memory_rpc.LongTermMemory.model_validate(merged(old.to_wire(), request.patch), context=AT_THE_DOOR)
        except ValidationError as error:
            found = [FieldFault(field=str(one["loc"][0]), message=one["msg"]) for one in error.errors()]
            raise RpcError(ErrorCode.BAD_FIELD, "wrong", fields=found) from error
        self.remembered[who] = new
        return memory_rpc.MemoryReply(memory=new)

    async def _delete(self, request: memory_rpc.UserRef) -> memory_rpc.MemoryDeleteReply:
        gone = self.remembered.pop((request.company_id, request.user_id), None)
        return memory_rpc.MemoryDeleteReply(deleted=gone is not None)

    async def _export(self, request: memory_rpc.MemoryExportRequest) -> memory_rpc.MemoryExportReply:
        page = int(request.cursor or 0)
        view = conversation_view(f"c{page}", request.company_id, request.user_id)
        message = rpc.MessageView.model_validate(
            {"id": f"m{page}", "seq": 1, "role": "user", "text": "hi", "createdAt": datetime(2026, 1, 1, tzinfo=UTC)}
        )
        known = self.remembered.get((request.company_id, request.user_id), memory_rpc.LongTermMemory())
        return memory_rpc.MemoryExportReply(
            memory=known if page == 0 else None,
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
        items = [one for (company, _), one in self.receipts.items() if company == request.company_id]
        return erasure_rpc.ReceiptsReply(items=items)

    async def _keeping(self, request: erasure_rpc.KeepingRequest) -> erasure_rpc.Keeping:
        del request
        none = erasure_rpc.Outdated(count=0)
        at = datetime(2026, 1, 2, 3, tzinfo=UTC)
        old = erasure_rpc.Outdated(days=30, before=at, count=7)
        return erasure_rpc.Keeping(next_run=at, conversations=old, files=none, traces=none)

    async def _holdings(self, request: memory_rpc.UserRef) -> market_rpc.Holdings:
        return market_rpc.Holdings(portfolio={"cash": 1}, alerts=[], watchlist=[request.user_id])

    def add_action(self, company: str, user: str, action: str) -> None:
        """An action that waits for this user's yes."""
        expires = datetime.now(UTC) + timedelta(minutes=5)
        waiting = Action(
            id=action, kind="paper_order", state=ActionState.PENDING, summary="Buy 1 AAPL", expires_at=expires
        )
        self.actions[action] = ((company, user), waiting)

    async def _decide(self, request: market_rpc.ActionDecideRequest) -> market_rpc.ActionReply:
        owner, action = self.actions.get(request.action_id, (None, None))
        if action is None or owner is None or owner != (request.company_id, request.user_id):
            told = Text(es="no tienes esa acción", en="there is no such action of yours")
            raise RpcError(ErrorCode.NOT_FOUND, told.said_in(request.language or "en"))
        if action.state is ActionState.PENDING:
            if (edits := request.edits or {}).keys() - (action.editable or {}).keys():
                raise RpcError(ErrorCode.BAD_FIELD, "edits: cannot be changed here")
            state = ActionState.CONFIRMED if request.decision == "confirm" else ActionState.REJECTED
            action = action.model_copy(update={"state": state, "details": action.details | edits, "editable": None})
            self.actions[request.action_id] = (owner, action)
        return market_rpc.ActionReply(action=action)

    async def _pending(self, request: memory_rpc.UserRef) -> market_rpc.PendingActionsReply:
        who = (request.company_id, request.user_id)
        waiting = [action for owner, action in self.actions.values() if owner == who]
        return market_rpc.PendingActionsReply(actions=[one for one in waiting if one.state is ActionState.PENDING])

    async def _known(self, request: market_rpc.ActionsRequest) -> market_rpc.ActionsReply:
        who = (request.company_id, request.user_id)
        theirs = [action for owner, action in self.actions.values() if owner == who]
        return market_rpc.ActionsReply(actions=[one for one in theirs if one.id in request.action_ids])

    async def _untold(self, request: memory_rpc.UserRef) -> market_rpc.UntoldAlertsReply:
        self.asked_untold += 1
        who = (request.company_id, request.user_id)
        actions = [self.actions[one][1] for one in self.untold_actions if self.actions[one][0] == who]
        return market_rpc.UntoldAlertsReply(alerts=self.untold.get(who, []), actions=actions)

    async def _told(self, request: market_rpc.AlertsToldRequest) -> market_rpc.AlertsToldReply:
        self.told.extend([*request.alert_ids, *request.action_ids])
        self.untold_actions = [one for one in self.untold_actions if one not in request.action_ids]
        waiting = self.untold.get((request.company_id, request.user_id), [])
        self.untold[request.company_id, request.user_id] = [one for one in waiting if one.id not in request.alert_ids]
        return market_rpc.AlertsToldReply(told=len(request.alert_ids))


def _receipt(name: str, kind: erasure_rpc.ErasureKind, by: erasure_rpc.ErasedBy) -> erasure_rpc.Receipt:
    at = datetime(2026, 1, 1, tzinfo=UTC)
    chat = erasure_rpc.Removed(place="stream CHAT", removed=2, gone_after=at, remains="freed_space")
    return erasure_rpc.Receipt(
        receipt_id=name, kind=kind, by=by, state="running", conversations=1, requested_at=at, removed=[chat]
    )
