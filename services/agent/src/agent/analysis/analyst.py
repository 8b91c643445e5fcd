"""Runs one analysis from its request to its report, by the steps of the state machine. Each step is recorded before the
next.

The record is replaced by compare-and-set: if two agents drive the same analysis, one of them stops at its next save.
Results that a dead agent recorded are not requested again. A tool call that it had sent is repeated under the same id
and returns the recorded result.
"""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import structlog

from agent.analysis.deps import AnalysisLimits, AnalysisPorts
from agent.analysis.in_chat import has_analyses
from agent.domain.analysis.plan import ToolInfo
from agent.domain.analysis.report import NOT_MADE
from agent.domain.analysis.steps import (
    AnalysisPolicy,
    AskModel,
    CallTools,
    Finish,
    advance,
    depends_on_market,
    language_of,
    with_reply,
    with_results,
)
from agent.domain.analysis.texts import note
from agent.domain.cost import SpendingAccount
from agent.domain.turn.journal import TurnCall
from agent.errors import BudgetSpentError, ModelError, UnreachableError
from agent.llm.paid_calls import ask_paid
from agent.metrics import ANALYSES, SENTENCES
from agent.ports import ConversationKey, ModelRequest, Requester
from contracts.analysis_report import report_schema
from contracts.company import CompanyConfig
from contracts.events.analysis import (
    AnalysisCall,
    AnalysisCompleted,
    AnalysisProblem,
    AnalysisRecord,
    AnalysisReply,
    AnalysisRequested,
)
from contracts.languages import Language
from contracts.market_rpc import MarketStatusReply
from contracts.symbols import InvalidSymbolError
from runtime.auth.principals import Principal
from runtime.errors import InvalidTokenError, ReadFailedError
from runtime.observability.correlation import add_ids
from runtime.workers.outcomes import Ack, Outcome, Retry
from runtime.workers.pull_worker import LEASE

log = structlog.get_logger(__name__)

MAX_OPENINGS = 8
"""How often an analysis is started, because agents die with it, before it is given up."""
RETRY_SECONDS = 0.5
"""Seconds before a request is delivered again, if its analysis runs here already or a dependency is unavailable."""
ROLES = frozenset({"user", "service"})
MAX_TOKENS = 1_000
_REPORT = report_schema()


class LostAnalysisError(Exception):
    """Another agent has replaced the record, or it is unknown whether ours was stored."""


class Analyst:
    """Drives analyses, each in one task at a time."""

    def __init__(self, ports: AnalysisPorts, limits: AnalysisLimits) -> None:
        self._ports = ports
        self._limits = limits
        self._running: set[str] = set()

    async def handle(self, request: AnalysisRequested) -> Outcome:
        """Handles one delivery of a request."""
        add_ids(request.company_id, request.conversation_id or "")
        ids = (request.company_id, request.user_id, request.analysis_id)
        key = "/".join(ids)
        if key in self._running:
            return Retry(RETRY_SECONDS)
        self._running.add(key)
        try:
            return await self._handle(request)
        except (LostAnalysisError, ReadFailedError, UnreachableError) as error:
            log.info("analysis.postponed", analysis_id=request.analysis_id, reason=str(error) or type(error).__name__)
            # The agent that took the analysis over renews this delivery, so it comes again only if that agent dies.
            return Retry(LEASE if isinstance(error, LostAnalysisError) else RETRY_SECONDS)
        finally:
            self._running.discard(key)

    async def refuse(self, outcome: AnalysisCompleted) -> None:
        """Publishes that a request cannot be read, unless an analysis with its id exists already.

        Raises:
            ReadFailedError, PublishFailedError: the bus does not answer.
        """
        if await self._ports.store.read(outcome.company_id, outcome.user_id, outcome.analysis_id) is None:
            await self._ports.outcomes.refuse(outcome)

    async def _handle(self, request: AnalysisRequested) -> Outcome:
        stored = await self._ports.store.read(request.company_id, request.user_id, request.analysis_id)
        if stored is None:
            record, revision = AnalysisRecord(request=request, asked_at=self._now()), 0
        else:
            record, revision = stored.record, stored.revision
        if record.status == "running":
            record = await self._drive(record, revision)
        await self._ports.outcomes.publish(_outcome(record))
        ANALYSES.labels(record.status).inc()
        return Ack()

    async def _drive(self, record: AnalysisRecord, revision: int) -> AnalysisRecord:
        hold = _RecordHold(self._ports, record, revision)
        request = record.request
        principal = _verified_requester(self._ports, request)
        if isinstance(principal, AnalysisProblem):
            return await hold.fail(principal)
        give_up_at = record.asked_at + timedelta(seconds=self._limits.seconds)
        try:
            settings = await self._ports.companies.get(request.company_id)
            language = language_of(record, settings.config if settings else None)
            requester = Requester(request.principal, principal.role, principal.plan, principal.sub, language)
            tools = await self._ports.tools.details(request.company_id, requester)
            market = await self._ports.market.now() if depends_on_market(request) else None
        except UnreachableError as error:
            if self._now() < give_up_at:
                raise
            return await hold.fail(AnalysisProblem(code="UNAVAILABLE", message=f"{error}: ask again later"))
        if settings is None:
            return await hold.fail(AnalysisProblem(code="NOT_FOUND", message=f"no company {request.company_id}"))
        if not has_analyses(settings.config):
            problem = AnalysisProblem(code="FORBIDDEN", message=f"{request.company_id} has no market analyses")
            return await hold.fail(problem)
        if record.openings >= MAX_OPENINGS:
            problem = AnalysisProblem(code="INTERNAL", message="it could not be finished: ask again")
            return await hold.fail(problem)
        opening = {
            "openings": record.openings + 1,
            "deadline": record.deadline or self._now() + timedelta(seconds=self._limits.seconds),
        }
        await hold.save(record.model_copy(update=opening))
        return await self._steps(hold, settings.config, requester, tools, market)

    async def _steps(
        self,
        hold: "_RecordHold",
        config: CompanyConfig,
        requester: Requester,
        tools: tuple[ToolInfo, ...],
        market: MarketStatusReply | None,
    ) -> AnalysisRecord:
        schemas = {tool.name: tool.output_schema for tool in tools}
        limits = self._limits
        policy = AnalysisPolicy(tools, limits.max_tool_calls, limits.default_tickers, config, market)

        def is_usable(tool: str, data: Any) -> bool:
            return tool in schemas and self._ports.schemas.is_valid(schemas[tool], data)

        while True:
            try:
                record, step = advance(hold.record, policy, is_usable, self._now())
            except InvalidSymbolError as error:
                return await hold.fail(AnalysisProblem(code="BAD_FIELD", message=f"tickers: {error}"))
            except Exception:
                # The step depends on nothing outside, so a retry would fail in the same way.
                log.exception("analysis.broken", analysis_id=hold.record.request.analysis_id)
                return await hold.fail(AnalysisProblem(code="INTERNAL", message="it cannot be analysed: ask otherwise"))
            match step:
                case Finish(report=report):
                    return await self._finish(hold, record, report)
                case AskModel():
                    await hold.save(record)
                    reply = await self._reply(hold.record, step, config, requester)
                    hold.record = with_reply(hold.record, reply)
                case CallTools(calls=calls):
                    await hold.save(record)
                    results = await self._results(hold.record, calls, requester, tools)
                    if results and all(_code(result) == "UNAUTHORIZED" for result in results.values()):
                        problem = AnalysisProblem(code="UNAUTHORIZED", message="the principal is no longer valid")
                        return await hold.fail(problem)
                    hold.record = _with_time_note(with_results(hold.record, results), results, requester.language)

    async def _finish(self, hold: "_RecordHold", record: AnalysisRecord, report: dict[str, Any]) -> AnalysisRecord:
        if not self._ports.schemas.is_valid(_REPORT, report):
            log.error("analysis.bad_report", analysis_id=record.request.analysis_id)
            return await hold.fail(AnalysisProblem(code="INTERNAL", message="the report does not fit its schema"))
        SENTENCES.labels("report").inc(report["dropped_sentences"])
        await hold.save(record.model_copy(update={"status": "done", "stage": "finished", "report": report}))
        return hold.record

    async def _reply(
        self, record: AnalysisRecord, step: AskModel, config: CompanyConfig, requester: Requester
    ) -> AnalysisReply:
        """Returns the model's reply, or the reason why there is none; the analysis continues without it."""
        remaining = self._remaining(record)
        if remaining <= 0:
            return AnalysisReply(step=step.step, failure="time")
        choice = self._ports.models.for_company(config).chosen(config.preferred_provider, config.preferred_model)
        if choice.candidates[0][0].provider == "offline":
            return AnalysisReply(step=step.step, failure="none")
        request = record.request
        account = SpendingAccount(
            request.company_id, request.conversation_id, payer=requester.user, user=requester.user, purpose=None
        )
        prompt = ModelRequest(
            messages=step.messages,
            tools=(),
            tool_choice="none",
            model=config.preferred_model,
            temperature=0.0,
            max_tokens=MAX_TOKENS,
            time_limit=min(remaining, self._limits.model),
            language=requester.language,
        )
        try:
            reply = await ask_paid(self._ports.spending, self._ports.models, account, config, prompt, choice=choice)
        except BudgetSpentError:
            return AnalysisReply(step=step.step, failure="budget")
        except ModelError as error:
            log.warning("analysis.no_model", analysis_id=request.analysis_id, reason=str(error))
            return AnalysisReply(step=step.step, failure="away")
        if reply.provider == "offline":
            return AnalysisReply(step=step.step, failure="none")
        return AnalysisReply(step=step.step, text=reply.text, model=reply.model, provider=reply.provider)

    async def _results(
        self, record: AnalysisRecord, calls: tuple[AnalysisCall, ...], requester: Requester, tools: tuple[ToolInfo, ...]
    ) -> dict[str, dict[str, Any]]:
        """Runs the calls at the same time and returns their results by call id."""
        remaining = self._remaining(record)
        if remaining <= 0:
            error = {"code": NOT_MADE, "message": "no time was left"}
            return {call.call_id: {"success": False, "error": error} for call in calls}
        request = record.request
        key = ConversationKey(request.company_id, request.conversation_id or "")
        categories = {tool.name: tool.category for tool in tools}
        per_ticker_tools = {tool.name for tool in tools if tool.is_per_ticker}
        seconds = min(remaining, self._limits.tool)

        async def run_call(call: AnalysisCall) -> dict[str, Any]:
            tickers_argument = (
                {"symbol": call.tickers[0]} if call.tool in per_ticker_tools else {"tickers": call.tickers}
            )
            arguments = orjson.dumps({**(call.arguments or {}), **tickers_argument}).decode()
            turn_call = TurnCall(call.call_id, call.tool, arguments)
            text = await self._ports.calls.outcome(
                key, turn_call, categories.get(call.tool, "market"), requester, request.analysis_id, seconds
            )
            return orjson.loads(text)

        outcomes = await asyncio.gather(*(run_call(call) for call in calls))
        return dict(zip((call.call_id for call in calls), outcomes, strict=True))

    def _remaining(self, record: AnalysisRecord) -> float:
        return 0.0 if record.deadline is None else (record.deadline - self._now()).total_seconds()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._ports.clock.now(), UTC)


def _with_time_note(record: AnalysisRecord, results: dict[str, dict[str, Any]], language: Language) -> AnalysisRecord:
    """Returns the record, with a note if no time was left for a call."""
    if not any(_code(result) == NOT_MADE for result in results.values()):
        return record
    remark = note("out_of_time", language)
    return record.model_copy(update={"notes": list(dict.fromkeys([*record.notes, remark]))})


class _RecordHold:
    """An agent's hold on a record; lost as soon as another agent has written it."""

    def __init__(self, ports: AnalysisPorts, record: AnalysisRecord, revision: int) -> None:
        self._ports = ports
        self._revision = revision
        self.record = record

    async def save(self, record: AnalysisRecord) -> None:
        """Saves the record; raises LostAnalysisError."""
        revision = await self._ports.store.save(record, self._revision)
        if revision is None:
            raise LostAnalysisError("the record is somebody else's now")
        self.record, self._revision = record, revision

    async def fail(self, problem: AnalysisProblem) -> AnalysisRecord:
        """Ends the analysis without a report."""
        log.warning("analysis.failed", analysis_id=self.record.request.analysis_id, code=problem.code)
        update = {"status": "failed", "stage": "finished", "error": problem}
        await self.save(self.record.model_copy(update=update))
        return self.record


def _outcome(record: AnalysisRecord) -> AnalysisCompleted:
    request = record.request
    return AnalysisCompleted(
        analysis_id=request.analysis_id,
        company_id=request.company_id,
        user_id=request.user_id,
        status="done" if record.status == "done" else "failed",
        report=record.report,
        error=record.error,
        conversation_id=request.conversation_id,
    )


def _verified_requester(ports: AnalysisPorts, request: AnalysisRequested) -> Principal | AnalysisProblem:
    """Returns the verified principal, or the problem if it is invalid or its owner may not request analyses."""
    if request.principal is None:
        return AnalysisProblem(code="UNAUTHORIZED", message="send a principal: POST /v2/principals gives one")
    try:
        principal = ports.verify(request.principal)
    except InvalidTokenError as error:
        return AnalysisProblem(code="UNAUTHORIZED", message=f"the principal proves nothing: {error}")
    if (principal.company, principal.sub) != (request.company_id, request.user_id):
        return AnalysisProblem(code="FORBIDDEN", message="the principal is of another company or user")
    if principal.role not in ROLES:
        return AnalysisProblem(
            code="FORBIDDEN", message=f"analyses are for users and services, not for {principal.role}s"
        )
    return principal


def _code(result: dict[str, Any]) -> str | None:
    error: dict[str, Any] = result.get("error") or {}
    code = error.get("code")
    return str(code) if code else None
