"""Analyses on a real bus: asked for by an event, driven to their report, whoever dies on the way."""

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, replace
from typing import Any

import orjson
import pytest
from pydantic import SecretStr

from agent.adapters.circuit_breaker import MAX_FAILURES
from agent.analysis.analyst import Analyst
from agent.analysis.deps import AnalysisLimits
from agent.app import Agent
from agent.scripted_model.script import Rule, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from agent.settings import ModelSettings
from agent.testing.company import COMPANY, demo_config
from agent.testing.dying import Death, Killed
from agent.testing.figures import output, serve_tool_details
from agent.testing.stage import Stage, agent, stage
from contracts.envelope import CloudEvent
from contracts.events.analysis import AnalysisRecord, AnalysisRequested
from contracts.events.tool import ToolCallRequested, ToolMetadata, ToolResult
from contracts.ids import uuid7
from runtime.analyses import Analyses
from runtime.bus.direct import DirectReader
from runtime.bus.publisher import Publisher
from runtime.testing.servers import NatsServer, eventually
from runtime.workers.outcomes import Ack, Retry
from runtime.workers.pull_worker import LEASE

COMPARE = "Compare IBM and MSFT over the last year"
ROUTING = '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
SUMMARY = "Over the year to 1 March 2013 IBM rose 2.7% and MSFT fell 13.4%."
MODEL = (
    Rule(match="budget_per_ticker", replies=[ScriptedReply(text=ROUTING, prompt_tokens=50)], again=True),
    Rule(match="findings", replies=[ScriptedReply(text=SUMMARY, prompt_tokens=90)], again=True),
)


@dataclass
class Scene:
    """A stage with its tools, an agent, and who asks."""

    stage: Stage
    agent: Agent
    model: ScriptedModel
    analyses: Analyses

    def request(self, **changes: Any) -> AnalysisRequested:
        fields = {
            "analysis_id": uuid7(),
            "company_id": COMPANY,
            "user_id": "ada",
            "query": COMPARE,
            "principal": "user/free/ada",
        }
        return AnalysisRequested.model_validate({**fields, **changes})

    async def done(self, request: AnalysisRequested) -> AnalysisRecord:
        await self.analyses.begin(request)
        record = await self.analyses.finished(COMPANY, request.user_id, request.analysis_id, 20)
        assert record is not None
        return record


@pytest.fixture
async def scene(nats_server: NatsServer) -> AsyncGenerator[Scene]:
    async with (
        stage(nats_server.url) as setting,
        scripted_model(*MODEL) as model,
        agent(nats_server.url, model.base_url) as running,
    ):
        for name in ("market_snapshot", "fundamentals_events"):
            setting.executor.tools[name] = answer
        details = await serve_tool_details(setting.nats)
        yield Scene(setting, running, model, Analyses(setting.nats, "/test"))
        await details.drain(1.0)


async def answer(request: ToolCallRequested) -> ToolResult:
    data = output(request.tool, request.arguments["tickers"])
    return ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=1.0))


async def completed(scene: Scene, count: int) -> list[dict[str, Any]]:
    """Waits for so many analysis.completed facts; their data."""
    reader = DirectReader(scene.stage.nats, "FACTS")

    async def enough() -> list[dict[str, Any]] | None:
        facts = (await reader.batch("analysis.completed.v1.>", 1, 100)).facts
        return [orjson.loads(fact.event)["data"] for fact in facts] if len(facts) >= count else None

    found = await eventually(enough)
    assert isinstance(found, list)
    return found


async def test_an_event_begins_an_analysis_and_an_event_tells_of_its_report(scene: Scene) -> None:
    request = scene.request()
    record = await scene.done(request)
    assert (record.status, record.stage, record.tickers) == ("done", "finished", ["IBM", "MSFT"])
    told = (await completed(scene, 1))[0]
    assert told["analysisId"] == request.analysis_id
    assert told["report"] == record.report
    assert told["report"]["findings"][0]["returns"]["1y"] == 0.027236
    assert scene.model.asked == []


async def test_one_that_is_cancelled_stops_with_its_next_step_and_is_told_to_have_failed(scene: Scene) -> None:
    called, released = asyncio.Event(), asyncio.Event()

    async def held(request: ToolCallRequested) -> ToolResult:
        called.set()
        await released.wait()
        return await answer(request)

    scene.stage.executor.tools["market_snapshot"] = held
    request = scene.request()
    await scene.analyses.begin(request)
    await asyncio.wait_for(called.wait(), 20)
    cancel = scene.analyses.cancel
    assert await cancel(COMPANY, "eve", request.analysis_id) is None
    ended = await cancel(COMPANY, request.user_id, request.analysis_id)
    assert ended is not None
    assert (ended.status, ended.error and ended.error.code) == ("failed", "CANCELLED")
    assert await cancel(COMPANY, request.user_id, request.analysis_id) == ended
    released.set()
    (told,) = await completed(scene, 1)
    assert (told["status"], told["error"]["code"]) == ("failed", "CANCELLED")
    kept = await scene.analyses.read(COMPANY, request.user_id, request.analysis_id)
    assert kept is not None
    assert (kept.record, kept.record.report) == (ended, None)


@pytest.mark.parametrize("taken", [False, True])
async def test_a_request_that_cannot_be_read_is_told_to_have_failed_unless_its_id_is_another_ones(
    scene: Scene, taken: bool
) -> None:
    request = scene.request()
    if taken:
        await scene.done(request)
    event: dict[str, Any] = orjson.loads(
        CloudEvent(source="/test", type="analysis.requested.v1", data=request).to_json()
    )
    event["data"] |= {"query": "", "useLlm": "perhaps"}
    await Publisher(scene.stage.nats).append(
        f"analysis.requested.v1.{COMPANY}.ada", orjson.dumps(event), stream="FACTS", msg_id="broken"
    )
    dead = DirectReader(scene.stage.nats, "DLQ")
    await eventually(lambda: dead.next("dlq.>", 1))
    (told,) = await completed(scene, 1)
    assert told["analysisId"] == request.analysis_id
    assert told["status"] == ("done" if taken else "failed")
    if not taken:
        assert told["error"]["code"] == "BAD_FIELD"
        assert "data.query" in told["error"]["message"]
        assert "data.useLlm" in told["error"]["message"]
        assert (await scene.done(request)).status == "done"
        assert [one["status"] for one in await completed(scene, 2)] == ["failed", "done"]


async def test_a_provider_that_has_rested_is_tried_by_an_analysis(nats_server: NatsServer) -> None:
    async with (
        stage(nats_server.url, demo_config(preferred_provider="groq")) as setting,
        scripted_model(*MODEL) as rested,
        scripted_model(*MODEL) as other,
        agent(
            nats_server.url,
            models=ModelSettings(
                provider_keys={"groq": SecretStr("k"), "openai": SecretStr("k")},
                provider_addresses={"groq": rested.base_url, "openai": other.base_url},
            ),
        ) as running,
    ):
        setting.executor.tools["market_snapshot"] = answer
        details = await serve_tool_details(setting.nats)
        running.models._providers["groq"]._failures = MAX_FAILURES  # pyright: ignore[reportPrivateUsage]
        scene = Scene(setting, running, rested, Analyses(setting.nats, "/test"))
        await scene.done(scene.request(use_llm=True))
        await details.drain(1.0)
    assert (len(rested.asked), len(other.asked)) == (2, 0)


async def test_a_model_is_asked_twice_and_what_it_used_is_recorded(scene: Scene) -> None:
    record = await scene.done(scene.request(use_llm=True))
    assert record.report is not None
    assert record.report["summary"].startswith(SUMMARY)
    assert [one["tool"] for one in record.report["tools_used"]] == ["market_snapshot"]
    assert len(scene.model.asked) == 2
    used = await scene.stage.usage(2)
    assert [one["userId"] for one in used] == ["ada", "ada"]
    assert sum(one["usage"]["promptTokens"] for one in used) == 140


async def test_a_model_that_lies_at_every_step_changes_neither_budget_nor_figures(scene: Scene) -> None:
    lie = (
        '{"tools": [{"tool": "create_paper_order", "tickers": ["IBM"]}, {"tool": "market_snapshot", "tickers": '
        '["TSLA", "IBM", "IBM"]}, {"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
    )
    scene.model.say(
        Rule(match="budget_per_ticker", replies=[ScriptedReply(text=lie)]),
        Rule(match="findings", replies=[ScriptedReply(text="IBM soared 55.5%, and will double: you should buy it.")]),
    )
    report = (await scene.done(scene.request(use_llm=True))).report
    assert report is not None
    assert report["tools_used"] == [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"], "calls": 2}]
    asked = [request.arguments["tickers"] for request in scene.stage.executor.requests]
    assert asked == [["IBM"], ["MSFT"]]
    assert "55.5" not in str(report)
    assert report["summary"].startswith("Over the year to 1 March 2013")
    assert len(report["limitations"]) >= 5


async def test_a_choice_that_cannot_be_read_is_made_by_rule(scene: Scene) -> None:
    scene.model.say(default=ScriptedReply(text='{"tools": [{"tool": "market_snapshot", "tickers": ["IBM"'))
    report = (await scene.done(scene.request(use_llm=True))).report
    assert report is not None
    assert [(one["tool"], one["calls"]) for one in report["tools_used"]] == [
        ("market_snapshot", 2),
        ("fundamentals_events", 2),
    ]
    assert any("could not be read" in one for one in report["limitations"])
    assert "{" not in report["summary"]


@pytest.mark.parametrize(
    "fault",
    [ScriptedReply(status=500), ScriptedReply(status=429, retry_after=60), ScriptedReply(cut_after=1, text=ROUTING)],
)
async def test_a_model_that_fails_is_done_without(scene: Scene, fault: ScriptedReply) -> None:
    scene.model.say(default=fault)
    report = (await scene.done(scene.request(use_llm=True))).report
    assert report is not None
    assert len(report["findings"]) == 2
    assert any("did not answer" in one for one in report["limitations"])


@pytest.mark.parametrize(
    ("changes", "code"),
    [
        ({"principal": None}, "UNAUTHORIZED"),
        ({"principal": "not one"}, "UNAUTHORIZED"),
        ({"principal": "user/free/eve"}, "FORBIDDEN"),
        ({"principal": "visitor/free/ada"}, "FORBIDDEN"),
        ({"tickers": ["!!"]}, "BAD_FIELD"),
    ],
)
async def test_a_request_that_proves_nothing_fails_and_says_so(
    scene: Scene, changes: dict[str, Any], code: str
) -> None:
    record = await scene.done(scene.request(**changes))
    assert record.status == "failed"
    assert record.error is not None
    assert record.error.code == code
    assert (await completed(scene, 1))[0]["error"]["code"] == code
    assert scene.stage.executor.requests == []


async def test_the_same_request_again_is_the_same_analysis(scene: Scene) -> None:
    request = scene.request()
    first = await scene.done(request)
    again = Analyst(scene.agent.analysis_ports, AnalysisLimits())
    assert await again.handle(request) == Ack()
    kept = await scene.analyses.read(COMPANY, "ada", request.analysis_id)
    assert kept is not None
    assert kept.record == first
    assert len(scene.stage.executor.effects) == 2
    assert len(await completed(scene, 1)) == 1


async def test_of_two_agents_that_drive_it_at_once_one_writes_the_report(scene: Scene) -> None:
    request = scene.request(use_llm=True)
    analysts = [Analyst(scene.agent.analysis_ports, AnalysisLimits()) for _ in range(2)]
    outcomes = await asyncio.gather(*(analyst.handle(request) for analyst in analysts))
    assert any(outcome == Ack() for outcome in outcomes)
    # Who lost it stays away for a lease: coming sooner, it would take it from the other one again, and so on.
    assert [outcome for outcome in outcomes if outcome != Ack()] == [Retry(LEASE)]
    assert await analysts[0].handle(request) == Ack()
    kept = await scene.analyses.read(COMPANY, "ada", request.analysis_id)
    assert kept is not None
    assert kept.record.status == "done"
    calls = [call_id for call_id, _ in scene.stage.executor.effects]
    assert len(calls) == len(set(calls))
    assert len(await completed(scene, 1)) == 1


class Broken:
    """Raises what no code of ours should."""

    def is_valid(self, *what: Any) -> bool:
        raise TypeError("unsupported operand")


async def test_what_breaks_the_analysts_own_code_fails_at_once_and_is_not_tried_again(scene: Scene) -> None:
    request = scene.request()
    broken = replace(scene.agent.analysis_ports, schemas=Broken())
    assert await Analyst(broken, AnalysisLimits()).handle(request) == Ack()
    (told,) = await completed(scene, 1)
    assert (told["status"], told["error"]["code"]) == ("failed", "INTERNAL")


class Dying:
    """Ports behind which an agent dies at one step."""

    def __init__(self, death: Death, inner: Any) -> None:
        self._death, self._inner = death, inner

    async def read(self, *where: str) -> Any:
        return await self._inner.read(*where)

    async def save(self, *what: Any) -> Any:
        return await self._death.step("save", lambda: self._inner.save(*what))

    async def outcome(self, *what: Any) -> Any:
        return await self._death.step("call", lambda: self._inner.outcome(*what))

    async def publish(self, *what: Any) -> Any:
        return await self._death.step("tell", lambda: self._inner.publish(*what))


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("at", range(7))
async def test_whoever_dies_at_whichever_step_another_agent_ends_it_once(scene: Scene, at: int, after: bool) -> None:
    request, ports, death = scene.request(use_llm=True), scene.agent.analysis_ports, Death(at, after)
    mortal = replace(
        ports,
        store=Dying(death, ports.store),
        calls=Dying(death, ports.calls),
        outcomes=Dying(death, ports.outcomes),
    )
    try:
        await Analyst(mortal, AnalysisLimits()).handle(request)
    except Killed:
        assert death.dead.is_set()
    assert death.dead.is_set() or at >= len(death.steps)
    assert await Analyst(ports, AnalysisLimits()).handle(request) == Ack()
    kept = await scene.analyses.read(COMPANY, "ada", request.analysis_id)
    assert kept is not None
    report = kept.record.report
    assert report is not None
    assert report["summary"].startswith(SUMMARY)
    # The call had an id of its own: the executor ran it once. A reply that was recorded was not paid for again.
    assert len(scene.stage.executor.effects) == 1
    assert len(scene.model.asked) <= 3
    assert len(await completed(scene, 1)) == 1
