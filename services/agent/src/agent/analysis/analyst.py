"""Runs one analysis from its request to its report, by the steps of the state machine. Each step is recorded before the
next.

The record is replaced by compare-and-set: if two agents drive the same analysis, one of them stops at its next save.
Results that a dead agent recorded are not requested again. A tool call that it had sent is repeated under the same id
and returns the recorded result.
"""

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import structlog

from agent.analysis.deps import AnalysisLimits, AnalysisPorts
from agent.analysis.in_chat import analyses_markets
from agent.domain.analysis.plan import ToolInfo
from agent.domain.analysis.report import NOT_MADE
from agent.domain.analysis.steps import (
    AnalysisPolicy,
    AskModel,
    CallTools,
    Finish,
    advance,
    is_about_all,
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
from contracts.symbols import InvalidSymbolError
from runtime.auth.principals import Principal
from runtime.errors import InvalidTokenError, ReadFailedError
from runtime.observability.correlation import add_ids
from runtime.workers.outcomes import Ack, Outcome, Retry
from runtime.workers.pull_worker import LEASE

log = structlog.get_logger(__name__)

OPENINGS = 8
"""Agents that may die over one analysis before it is given up."""
AGAIN = 0.5
"""Seconds before another look at an analysis that is driven here already, or that something is missing for."""
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
        self._driven: set[str] = set()

    async def handle(self, request: AnalysisRequested) -> Outcome:
        """Handles one delivery of a request."""
        add_ids(request.company_id, request.conversation_id or "")
        where = (request.company_id, request.user_id, request.analysis_id)
        key = "/".join(where)
        if key in self._driven:
            return Retry(AGAIN)
        self._driven.add(key)
        try:
            return await self._handle(request)
        except (LostAnalysisError, ReadFailedError, UnreachableError) as error:
            log.info("analysis.postponed", analysis_id=request.analysis_id, reason=str(error) or type(error).__name__)
            # Who took a lost one over renews the same delivery, so that it comes again only when that one is dead.
            return Retry(LEASE if isinstance(error, LostAnalysisError) else AGAIN)
        finally:
            self._driven.discard(key)

    async def refuse(self, outcome: AnalysisCompleted) -> None:
        """Tells that a request cannot be read; the id of an analysis that is there already stays that one's.

        Raises:
            ReadFailedError, PublishFailedError: the bus does not answer.
        """
        if await self._ports.store.read(outcome.company_id, outcome.user_id, outcome.analysis_id) is None:
            await self._ports.outcomes.refuse(outcome)

    async def _handle(self, asked: AnalysisRequested) -> Outcome:
        kept = await self._ports.store.read(asked.company_id, asked.user_id, asked.analysis_id)
        if kept is None:
            record, revision = AnalysisRecord(request=asked, asked_at=self._now()), 0
        else:
            record, revision = kept.record, kept.revision
        if record.status == "running":
            record = await self._driven_to_its_end(record, revision)
        await self._ports.outcomes.publish(_outcome(record))
        ANALYSES.labels(record.status).inc()
        return Ack()

    async def _driven_to_its_end(self, record: AnalysisRecord, revision: int) -> AnalysisRecord:
        run = _RecordHold(self._ports, record, revision)
        request = record.request
        proof = _proof(self._ports, request)
        if isinstance(proof, AnalysisProblem):
            return await run.failed(proof)
        latest = record.asked_at + timedelta(seconds=self._limits.seconds)
        try:
            settings = await self._ports.companies.get(request.company_id)
            language = language_of(record, settings.config if settings else None)
            requester = Requester(request.principal, proof.role, proof.plan, proof.sub, language)
            tools = await self._ports.tools.details(request.company_id, requester)
            symbols = await self._ports.market.all() if not record.tickers and is_about_all(request) else ()
        except UnreachableError as error:
            if self._now() < latest:
                raise
            return await run.failed(AnalysisProblem(code="UNAVAILABLE", message=f"{error}: ask again later"))
        if settings is None:
            return await run.failed(AnalysisProblem(code="NOT_FOUND", message=f"no company {request.company_id}"))
        if not analyses_markets(settings.config):
            problem = AnalysisProblem(code="FORBIDDEN", message=f"{request.company_id} has no market analyses")
            return await run.failed(problem)
        if record.openings >= OPENINGS:
            problem = AnalysisProblem(code="INTERNAL", message="it could not be finished: ask again")
            return await run.failed(problem)
        begun = {
            "openings": record.openings + 1,
            "deadline": record.deadline or self._now() + timedelta(seconds=self._limits.seconds),
        }
        await run.save(record.model_copy(update=begun))
        return await self._steps(run, settings.config, requester, tools, symbols)

    async def _steps(
        self,
        run: "_RecordHold",
        config: CompanyConfig,
        requester: Requester,
        tools: tuple[ToolInfo, ...],
        symbols: Sequence[str],
    ) -> AnalysisRecord:
        schemas = {tool.name: tool.output_schema for tool in tools}
        policy = AnalysisPolicy(tools, self._limits.max_tool_calls, self._limits.default_tickers, config, symbols)

        def usable(tool: str, data: Any) -> bool:
            return tool in schemas and self._ports.schemas.is_valid(schemas[tool], data)

        while True:
            try:
                record, step = advance(run.record, policy, usable, self._now())
            except InvalidSymbolError as error:
                return await run.failed(AnalysisProblem(code="BAD_FIELD", message=f"tickers: {error}"))
            except Exception:
                # It reads nothing from outside: the next try would fail the same.
                log.exception("analysis.broken", analysis_id=run.record.request.analysis_id)
                return await run.failed(
                    AnalysisProblem(code="INTERNAL", message="it cannot be analysed: ask otherwise")
                )
            match step:
                case Finish(report=report):
                    return await self._finish(run, record, report)
                case AskModel():
                    await run.save(record)
                    reply = await self._reply(run.record, step, config, requester)
                    run.record = with_reply(run.record, reply)
                case CallTools(calls=calls):
                    await run.save(record)
                    results = await self._results(run.record, calls, requester, tools)
                    if results and all(_code(result) == "UNAUTHORIZED" for result in results.values()):
                        problem = AnalysisProblem(code="UNAUTHORIZED", message="the principal is no longer valid")
                        return await run.failed(problem)
                    run.record = _noted(with_results(run.record, results), results, requester.language)

    async def _finish(self, run: "_RecordHold", record: AnalysisRecord, report: dict[str, Any]) -> AnalysisRecord:
        if not self._ports.schemas.is_valid(_REPORT, report):
            log.error("analysis.bad_report", analysis_id=record.request.analysis_id)
            return await run.failed(AnalysisProblem(code="INTERNAL", message="the report does not fit its schema"))
        SENTENCES.labels("report").inc(report["dropped_sentences"])
        await run.save(record.model_copy(update={"status": "done", "stage": "finished", "report": report}))
        return run.record

    async def _reply(
        self, record: AnalysisRecord, step: AskModel, config: CompanyConfig, requester: Requester
    ) -> AnalysisReply:
        """The model's reply, or the reason why there is none; the analysis continues without it."""
        left = self._left(record)
        if left <= 0:
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
            time_limit=min(left, self._limits.model),
            language=requester.language,
        )
        try:
            reply = await ask_paid(self._ports.spending, self._ports.models, account, config, prompt)
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
        """The results of the calls, side by side."""
        left = self._left(record)
        if left <= 0:
            error = {"code": NOT_MADE, "message": "no time was left"}
            return {call.call_id: {"success": False, "error": error} for call in calls}
        request = record.request
        key = ConversationKey(request.company_id, request.conversation_id or "")
        categories = {tool.name: tool.category for tool in tools}
        single = {tool.name for tool in tools if tool.is_per_ticker}
        seconds = min(left, self._limits.tool)

        async def one(call: AnalysisCall) -> dict[str, Any]:
            about = {"symbol": call.tickers[0]} if call.tool in single else {"tickers": call.tickers}
            arguments = orjson.dumps({**(call.arguments or {}), **about}).decode()
            asked = TurnCall(call.call_id, call.tool, arguments)
            text = await self._ports.calls.outcome(
                key, asked, categories.get(call.tool, "market"), requester, request.analysis_id, seconds
            )
            return orjson.loads(text)

        outcomes = await asyncio.gather(*(one(call) for call in calls))
        return dict(zip((call.call_id for call in calls), outcomes, strict=True))

    def _left(self, record: AnalysisRecord) -> float:
        return 0.0 if record.deadline is None else (record.deadline - self._now()).total_seconds()

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._ports.clock.now(), UTC)


def _noted(record: AnalysisRecord, results: dict[str, dict[str, Any]], language: Language) -> AnalysisRecord:
    """The record with a remark where no time was left for a call."""
    if not any(_code(result) == NOT_MADE for result in results.values()):
        return record
    remark = note("out_of_time", language)
    return record.model_copy(update={"notes": list(dict.fromkeys([*record.notes, remark]))})


class _RecordHold:
    """An agent's hold on a record; lost as soon as another one has written."""

    def __init__(self, ports: AnalysisPorts, record: AnalysisRecord, revision: int) -> None:
        self._ports = ports
        self._revision = revision
        self.record = record

    async def save(self, record: AnalysisRecord) -> None:
        """Raises LostAnalysisError."""
        revision = await self._ports.store.save(record, self._revision)
        if revision is None:
            raise LostAnalysisError("the record is somebody else's now")
        self.record, self._revision = record, revision

    async def failed(self, problem: AnalysisProblem) -> AnalysisRecord:
        """The end without a report."""
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


def _proof(ports: AnalysisPorts, request: AnalysisRequested) -> Principal | AnalysisProblem:
    """The requester, if the principal proves who they are and they may ask."""
    if request.principal is None:
        return AnalysisProblem(code="UNAUTHORIZED", message="send a principal: POST /v2/principals gives one")
    try:
        proof = ports.verify(request.principal)
    except InvalidTokenError as error:
        return AnalysisProblem(code="UNAUTHORIZED", message=f"the principal proves nothing: {error}")
    if (proof.company, proof.sub) != (request.company_id, request.user_id):
        return AnalysisProblem(code="FORBIDDEN", message="the principal is of another company or user")
    if proof.role not in ROLES:
        return AnalysisProblem(code="FORBIDDEN", message=f"analyses are for users and services, not for {proof.role}s")
    return proof


def _code(result: dict[str, Any]) -> str | None:
    error: dict[str, Any] = result.get("error") or {}
    code = error.get("code")
    return str(code) if code else None
