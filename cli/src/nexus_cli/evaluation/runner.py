"""Tries cases side by side on a running stack."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import aiohttp
from nats.aio.client import Client

from contracts.company_rpc import COMPANY_CREATE, CompanyCreateRequest
from contracts.errors import HANDOFF_WAITING
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

AT_ONCE = 6
ANSWERED_WITHIN = 90.0
VISITORS_TOOLS = (
    *("get_price", "get_ohlcv", "get_indicators", "get_fundamentals", "market_snapshot", "fundamentals_events"),
    *("calculate_position_size", "calculate_risk_reward", "explain_concept"),
)
BARS = 500
MODEL_AWAY = "LLM_UNAVAILABLE"
"""The code of a turn that ended because no model answered: of a real one, unless a case asks for it, not ours."""


@dataclass(frozen=True)
class Result:
    """The result of a case. `checks` None: it was left out, since it needs a model, or could not be tried (`error`).
    `text`: what was answered last."""

    case: Case
    checks: list[CaseCheck] | None
    seconds: float = 0.0
    model: str = ""
    error: str | None = None
    text: str = ""

    @property
    def passed(self) -> bool | None:
        """None: left out, or not tried."""
        return None if self.checks is None else all(check.passed for check in self.checks)


async def run_cases(
    cases: Sequence[Case], stage: Stage, tell: Callable[[Result], None], repeat: int = 1
) -> list[Result]:
    """Runs every case as often as `repeat` says, one after the other, in the order given; `tell` is called with each as
    it ends. What is repeated is measured, so that the first case of each kind is tried once before, and not counted.

    Raises:
        ServerUnreachableError: the stage's bus does not answer.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    async with bus(stage.target.nats) as client, aiohttp.ClientSession() as http:
        trial = Trial(stage, client, http)

        async def one(case: Case, company: str) -> Result:
            async with slots:
                result = await trial.run(case, company)
            tell(result)
            return result

        if repeat > 1:
            first = {case.kind: case for case in reversed(cases)}
            await asyncio.gather(*(trial.run(case, f"{case.id}-warm") for case in first.values()))
        results: list[Result] = []
        for turn in range(repeat):
            suffix = f"-{turn + 1}" if turn else ""
            results += await asyncio.gather(*(one(case, f"{case.id}{suffix}") for case in cases))
        return results


class Trial:
    """Tries one case at a time, each in a company and for a user of its own."""

    def __init__(self, stage: Stage, client: Client, http: aiohttp.ClientSession) -> None:
        self._stage = stage
        self._client = client
        self._http = http
        self._gateway = (stage.target.gateway or "").rstrip("/")

    async def run(self, case: Case, company: str) -> Result:
        """The case, judged in a company of that name; one that needs a model where there is none is left out. What
        keeps it from being tried is an error, and says nothing of the product: a server that is away, a model that
        does not answer. A refusal, or no answer in time, is the product's own."""
        if case.needs_model and self._stage.models.model is None:
            return Result(case, None)
        try:
            async with asyncio.timeout(ANSWERED_WITHIN * max(len(case.say), 1)):
                await self._found(case, company)
                seen = await self._seen(case, company)
        except TurnRefusedError as error:
            seen = Observed(problem=str(error))
        except (ChatFailedError, RuntimeLibraryError, aiohttp.ClientError) as error:
            return Result(case, None, error=str(error) or type(error).__name__)
        except TimeoutError:
            seen = Observed(problem=f"no end within {ANSWERED_WITHIN:g} s")
        real = self._stage.models.model is not None and not case.model
        if real and case.expect.code is None and seen.code == MODEL_AWAY:
            return Result(case, None, round(seen.seconds, 3), seen.model, f"the model did not answer: {seen.code}")
        return Result(case, checks(case, seen), round(seen.seconds, 3), seen.model, text=seen.text)

    async def _seen(self, case: Case, company: str) -> Observed:
        match case.kind:
            case "visitor" | "copilot":
                return await self._chat(case, company)
            case "tool":
                return await self._call(case, company)
            case "analysis":
                return await self._analysis(case, company)

    async def _found(self, case: Case, company: str) -> None:
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
                "enabledTools": list(VISITORS_TOOLS),
            },
        }
        for name, value in case.settings.items():
            mine = settings.get(name)
            settings[name] = {**mine, **value} if isinstance(mine, dict) and isinstance(value, dict) else value
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
        async with conversation(self._gateway, token, case.language, page=page) as (open_one, _):
            for text in case.say:
                started = time.perf_counter()
                message = await _answered(open_one, text)
                seconds = time.perf_counter() - started
        seen = Observed(
            seconds=seconds,
            text=str(message.get("text") or ""),
            citations=tuple(str(one["url"]) for one in message.get("citations") or ()),
            actions=sum(one["state"] == "pending" for one in message.get("actions") or ()),
            question=" ".join(case.say),
        )
        record = await record_of(self._client, company, str(message.get("turnId") or ""))
        if record is None:
            # A hand-over ends a turn without an answer: the notice of it is what is said.
            if message.get("code") == HANDOFF_WAITING:
                return replace(seen, code=HANDOFF_WAITING)
            return replace(seen, problem="the turn left no record")
        journal: dict[str, Any] = record["journal"]
        return replace(
            seen,
            code=journal.get("failure"),
            uses=tuple(_uses(journal)),
            model_calls=len(journal["steps"]) + (journal.get("answer") is not None),
            model=str(journal.get("model") or ""),
        )

    # ------------------------------------------------------------ calls and analyses

    async def _call(self, case: Case, company: str) -> Observed:
        headers = {"Authorization": f"Bearer {self._token(case, company)}", "Accept-Language": case.language}
        url, seconds, status = f"{self._gateway}/v2/tools/{case.tool}", 0.0, 0
        body: dict[str, Any] = {}
        for _ in range(case.times):
            started = time.perf_counter()
            async with self._http.post(url, json={"arguments": case.arguments}, headers=headers) as answer:
                status, body = answer.status, cast("dict[str, Any]", await answer.json(content_type=None))
            seconds = time.perf_counter() - started
        error: dict[str, Any] = body.get("error") or {}
        return Observed(seconds=seconds, text=str(error.get("message") or ""), status=status, body=body)

    async def _analysis(self, case: Case, company: str) -> Observed:
        headers = {"Authorization": f"Bearer {self._token(case, company)}", "Accept-Language": case.language}
        body: dict[str, Any] = {"query": case.query, "useLlm": case.use_llm}
        if case.tickers is not None:
            body["tickers"] = case.tickers
        started = time.perf_counter()
        url = f"{self._gateway}/v2/analysis"
        async with self._http.post(url, json=body, headers={**headers, "Prefer": "wait=60"}) as answer:
            found: dict[str, Any] = await answer.json(content_type=None)
        seconds = time.perf_counter() - started
        report: dict[str, Any] = found.get("report") or {}
        if not report:
            return Observed(seconds=seconds, problem=f"no report: {str(found)[:300]}")
        tickers = {path.partition(".")[0] for path in case.expect.recomputed}
        bars = {ticker: await self._bars(ticker, headers) for ticker in tickers}
        return Observed(seconds=seconds, text=str(report["summary"]), body=report, question=case.query or "", bars=bars)

    async def _bars(self, ticker: str, headers: dict[str, str]) -> list[dict[str, Any]]:
        arguments = {"symbol": ticker, "timeframe": "1d", "limit": BARS}
        url = f"{self._gateway}/v2/tools/get_ohlcv"
        async with self._http.post(url, json={"arguments": arguments}, headers=headers) as answer:
            body: dict[str, Any] = await answer.json(content_type=None)
        data: dict[str, Any] = body.get("data") or {}
        return cast("list[dict[str, Any]]", data.get("bars") or [])


class TurnRefusedError(Exception):
    """A message was refused, with this code and text."""


async def _answered(open_one: ChatConnection, text: str) -> dict[str, Any]:
    """Sends a message and returns the answer."""
    identity, asked = await open_one.say(text), 0
    early: list[dict[str, Any]] = []
    async for frame in open_one.frames():
        if frame["type"] == "message.ack" and frame["clientMessageId"] == identity:
            asked = int(frame["seq"])
        elif frame["type"] == "error":
            raise TurnRefusedError(f"{frame['code']}: {frame['message']}")
        elif frame["type"] == "message.created" and frame["message"]["role"] in ("assistant", "system"):
            early.append(frame["message"])
        # After a reconnect an answer can come before the acknowledgement of what it answers.
        if asked:
            for message in early:
                if message["seq"] > asked:
                    return message
            early.clear()
    raise ChatFailedError("the conversation ended without an answer")


def _uses(journal: dict[str, Any]) -> list[ObservedCall]:
    """The turn's own calls, without those of the turn before it."""
    own = re.compile(re.escape(str(journal["turnId"])) + r"-")
    return [
        ObservedCall(call["tool"], call["arguments"], call.get("result") or {})
        for call in cast("list[dict[str, Any]]", journal["calls"])
        if own.match(call["callId"])
    ]
