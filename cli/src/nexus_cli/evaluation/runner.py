"""Tries cases side by side on a running stack."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import aiohttp
from nats.aio.client import Client

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.errors import HANDOFF_WAITING, ToolCode
from nexus_cli.chat.client import ChatConnection, ChatFailedError, conversation, visitor_token
from nexus_cli.evaluation.cases import Case
from nexus_cli.evaluation.checks import CaseCheck, checks
from nexus_cli.evaluation.observed import Observed, ObservedCall
from nexus_cli.evaluation.records import record_of
from nexus_cli.evaluation.stage import Stage
from nexus_cli.identity import development_token
from nexus_cli.target import bus
from runtime.calls.rpc import RpcClient
from runtime.errors import RuntimeLibraryError

MAX_PARALLEL = 6
ANSWER_SECONDS = 90.0
VISITOR_TOOLS = (
    *("get_price", "get_ohlcv", "get_indicators", "get_fundamentals", "market_snapshot", "fundamentals_events"),
    *("calculate_position_size", "calculate_risk_reward", "explain_concept"),
)
MAX_BARS = 500
MODEL_UNAVAILABLE = "LLM_UNAVAILABLE"
"""Code of a turn that ended because no model answered. From a real model this is no failure of the product, unless the
case expects it."""


@dataclass(frozen=True)
class Result:
    """The result of a case. `checks` is None if the case was skipped because it needs a model, or could not be tried
    (`error`). `text` is the last answer."""

    case: Case
    checks: list[CaseCheck] | None
    seconds: float = 0.0
    model: str = ""
    error: str | None = None
    text: str = ""

    @property
    def passed(self) -> bool | None:
        """Whether every check passed. None if the case was skipped or could not be tried."""
        return None if self.checks is None else all(check.passed for check in self.checks)


async def run_cases(
    cases: Sequence[Case], stage: Stage, tell: Callable[[Result], None], repeat: int = 1
) -> list[Result]:
    """Runs every case `repeat` times, round after round, MAX_PARALLEL cases at a time, and calls `tell` with each
    result. Before repeated rounds the first case of each kind is tried once without being counted, so that no measured
    time includes a cold start.

    Raises:
        ServerUnreachableError: the bus of the stage does not answer.
    """
    slots = asyncio.Semaphore(MAX_PARALLEL)
    async with bus(stage.target.nats) as client, aiohttp.ClientSession() as http:
        trial = Trial(stage, client, http)

        async def try_case(case: Case, company: str) -> Result:
            async with slots:
                result = await trial.run(case, company)
            tell(result)
            return result

        if repeat > 1:
            first_of_kind = {case.kind: case for case in reversed(cases)}
            await asyncio.gather(*(trial.run(case, f"{case.id}-warm") for case in first_of_kind.values()))
        results: list[Result] = []
        for round_number in range(repeat):
            suffix = f"-{round_number + 1}" if round_number else ""
            results += await asyncio.gather(*(try_case(case, f"{case.id}{suffix}") for case in cases))
        return results


class Trial:
    """Tries cases, each in a company of its own with a user of its own."""

    def __init__(self, stage: Stage, client: Client, http: aiohttp.ClientSession) -> None:
        self._stage = stage
        self._client = client
        self._http = http
        self._gateway = (stage.target.gateway or "").rstrip("/")

    async def run(self, case: Case, company: str) -> Result:
        """Tries a case in a new company of that name. A case that needs a model is skipped if there is none.

        An unreachable server or tool, or a model that does not answer, is an error, which says nothing about the
        product. A refusal or a late answer is a failure of the product.
        """
        if case.needs_model and self._stage.models.model is None:
            return Result(case, None)
        try:
            async with asyncio.timeout(ANSWER_SECONDS * max(len(case.say), 1)):
                await self._create_company(case, company)
                match case.kind:
                    case "visitor" | "copilot":
                        observed = await self._chat(case, company)
                    case "tool":
                        observed = await self._call(case, company)
                    case "analysis":
                        observed = await self._analysis(case, company)
        except TurnRefusedError as error:
            observed = Observed(problem=str(error))
        except (ChatFailedError, RuntimeLibraryError, aiohttp.ClientError) as error:
            return Result(case, None, error=str(error) or type(error).__name__)
        except TimeoutError:
            observed = Observed(problem=f"no end within {ANSWER_SECONDS:g} s")
        seconds = round(observed.seconds, 3)
        is_real_model = self._stage.models.model is not None and not case.model
        if missing := absent(case, observed, is_real_model=is_real_model):
            return Result(case, None, seconds, observed.model, missing)
        return Result(case, checks(case, observed), seconds, observed.model, text=observed.text)

    async def _create_company(self, case: Case, company: str) -> None:
        models = self._stage.models
        provider, model = ("offline", "offline-rules")
        if case.model:
            provider, model = models.recorded, "recorded"
        elif models.provider is not None and models.model is not None:
            provider, model = models.provider, models.model
        settings: dict[str, Any] = {
            "companyId": company,
            "aiAutoResponseEnabled": True,
            "responseDelayMs": 0,
            "preferredProvider": provider,
            "preferredModel": model,
            "toolConfig": {
                "fetchPageEnabled": True,
                "allowedDomains": [self._stage.site],
                "enabledTools": list(VISITOR_TOOLS),
            },
        }
        for name, value in case.settings.items():
            default = settings.get(name)
            settings[name] = {**default, **value} if isinstance(default, dict) and isinstance(value, dict) else value
        await RpcClient(self._client).call(COMPANY_CREATE, CompanyCreateRequest(config=settings), deadline=15)

    def _token(self, case: Case, company: str) -> str:
        secret = self._stage.target.jwt_secret
        return development_token(secret, role="user", user=f"eval-{case.id}", company=company, plan=case.plan)

    # ------------------------------------------------------------ chats

    async def _chat(self, case: Case, company: str) -> Observed:
        if case.kind == "visitor":
            token = await visitor_token(self._gateway, company, case.language)
        else:
            token = self._token(case, company)
        message: dict[str, Any] = {}
        seconds = 0.0
        page = {"url": f"{self._stage.site}{case.page}"} if case.page else None
        async with conversation(self._gateway, token, case.language, page=page) as (connection, _):
            for text in case.say:
                start = time.perf_counter()
                message = await _send_and_wait(connection, text)
                seconds = time.perf_counter() - start
        observed = Observed(
            seconds=seconds,
            text=str(message.get("text") or ""),
            citations=tuple(str(entry["url"]) for entry in message.get("citations") or ()),
            actions=sum(entry["state"] == "pending" for entry in message.get("actions") or ()),
            question=" ".join(case.say),
        )
        record = await record_of(self._client, company, str(message.get("turnId") or ""))
        if record is None:
            # A hand-over ends a turn without an answer; its notice is the last message.
            if message.get("code") == HANDOFF_WAITING:
                return replace(observed, code=HANDOFF_WAITING)
            return replace(observed, problem="the turn left no record")
        journal: dict[str, Any] = record["journal"]
        return replace(
            observed,
            code=journal.get("failure"),
            uses=tuple(_own_calls(journal)),
            model_calls=len(journal["steps"]) + (journal.get("answer") is not None),
            model=str(journal.get("model") or ""),
        )

    # ------------------------------------------------------------ calls and analyses

    async def _call(self, case: Case, company: str) -> Observed:
        headers = {"Authorization": f"Bearer {self._token(case, company)}", "Accept-Language": case.language}
        url, seconds, status = f"{self._gateway}/v2/tools/{case.tool}", 0.0, 0
        body: dict[str, Any] = {}
        for _ in range(case.times):
            start = time.perf_counter()
            async with self._http.post(url, json={"arguments": case.arguments}, headers=headers) as response:
                status, body = response.status, cast("dict[str, Any]", await response.json(content_type=None))
            seconds = time.perf_counter() - start
        error: dict[str, Any] = body.get("error") or {}
        return Observed(seconds=seconds, text=str(error.get("message") or ""), status=status, body=body)

    async def _analysis(self, case: Case, company: str) -> Observed:
        headers = {"Authorization": f"Bearer {self._token(case, company)}", "Accept-Language": case.language}
        body: dict[str, Any] = {"query": case.query, "useLlm": case.use_llm}
        if case.tickers is not None:
            body["tickers"] = case.tickers
        start = time.perf_counter()
        url = f"{self._gateway}/v2/analysis"
        async with self._http.post(url, json=body, headers={**headers, "Prefer": "wait=60"}) as response:
            analysis: dict[str, Any] = await response.json(content_type=None)
        seconds = time.perf_counter() - start
        report: dict[str, Any] = analysis.get("report") or {}
        if not report:
            return Observed(seconds=seconds, problem=f"no report: {str(analysis)[:300]}")
        tickers = {path.partition(".")[0] for path in case.expect.recomputed}
        bars = {ticker: await self._bars(ticker, headers) for ticker in tickers}
        return Observed(seconds=seconds, text=str(report["summary"]), body=report, question=case.query or "", bars=bars)

    async def _bars(self, ticker: str, headers: dict[str, str]) -> list[dict[str, Any]]:
        arguments = {"symbol": ticker, "timeframe": "1d", "limit": MAX_BARS}
        url = f"{self._gateway}/v2/tools/get_ohlcv"
        async with self._http.post(url, json={"arguments": arguments}, headers=headers) as response:
            body: dict[str, Any] = await response.json(content_type=None)
        data: dict[str, Any] = body.get("data") or {}
        return cast("list[dict[str, Any]]", data.get("bars") or [])


def absent(case: Case, observed: Observed, *, is_real_model: bool) -> str | None:
    """Returns what did not answer although the case counts on it: a real model, or the service behind a tool."""
    if is_real_model and case.expect.code is None and observed.code == MODEL_UNAVAILABLE:
        return f"the model did not answer: {observed.code}"
    tools = [use.tool for use in observed.uses if use.error in (ToolCode.UNAVAILABLE, ToolCode.TIMEOUT)]
    return f"{tools[0]} did not answer" if tools and not case.expect.errors else None


class TurnRefusedError(Exception):
    """The gateway refused a message; the text is its code and reason."""


async def _send_and_wait(connection: ChatConnection, text: str) -> dict[str, Any]:
    """Sends a message and returns its answer. Raises TurnRefusedError, ChatFailedError."""
    message_id, message_seq = await connection.say(text), 0
    answers: list[dict[str, Any]] = []
    async for frame in connection.frames():
        if frame["type"] == "message.ack" and frame["clientMessageId"] == message_id:
            message_seq = int(frame["seq"])
        elif frame["type"] == "error":
            raise TurnRefusedError(f"{frame['code']}: {frame['message']}")
        elif frame["type"] == "message.created" and frame["message"]["role"] in ("assistant", "system"):
            answers.append(frame["message"])
        # After a reconnect an answer can arrive before the acknowledgement of its question.
        if message_seq:
            for message in answers:
                if message["seq"] > message_seq:
                    return message
            answers.clear()
    raise ChatFailedError("the conversation ended without an answer")


def _own_calls(journal: dict[str, Any]) -> list[ObservedCall]:
    """The calls of this turn, without those of the previous one that its journal also holds."""
    return [
        ObservedCall(call["tool"], call["arguments"], call.get("result") or {})
        for call in cast("list[dict[str, Any]]", journal["calls"])
        if call["callId"].startswith(f"{journal['turnId']}-")
    ]
