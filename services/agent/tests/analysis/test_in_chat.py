"""Analyses in the chat: offered to customers whose message asks for one, and the same as anywhere else."""

import json
from typing import Any

import pytest

from agent.analysis.in_chat import NAME, offered_with_analysis
from agent.domain.context.compression import PromptMessage
from agent.ports import PromptHistory, Requester
from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import scripted_model
from agent.testing.company import COMPANY, demo_config
from agent.testing.figures import output, serve_tool_details
from agent.testing.stage import Stage, agent, stage
from contracts.events.tool import ToolCallRequested, ToolMetadata, ToolResult
from runtime.analyses import Analyses
from runtime.testing.servers import NatsServer

ADA = "user/free/ada"
COMPARE = "Compare IBM and MSFT over the last year"


async def answer(request: ToolCallRequested) -> ToolResult:
    data = output(request.tool, request.arguments["tickers"])
    return ToolResult(success=True, data=data, metadata=ToolMetadata(execution_time=1.0))


def offer(setting: Stage) -> None:
    for name in ("market_snapshot", "fundamentals_events"):
        setting.executor.tools[name] = answer


@pytest.mark.parametrize(
    ("text", "principal", "offered"),
    [
        (COMPARE, ADA, True),
        (COMPARE, "visitor/free/visitor-1", False),
        ("What does the Pro plan cost?", ADA, False),
    ],
)
async def test_it_is_offered_to_a_customer_who_asks_for_one_and_in_no_other_turn(
    nats_server: NatsServer, text: str, principal: str, offered: bool
) -> None:
    async with stage(nats_server.url) as setting, scripted_model(default=ScriptedReply(text="So it is.")) as model:
        offer(setting)
        async with agent(nats_server.url, model.base_url):
            await setting.visitor("c1", text, principal=principal)
            await setting.answered("c1")
    names = [tool["function"]["name"] for tool in model.asked[0].get("tools", [])]
    assert (NAME in names) is offered


async def test_a_model_that_calls_it_gets_the_report_that_anybody_else_would(nats_server: NatsServer) -> None:
    call = ScriptedReply(tool_calls=[ScriptedCall(name=NAME, arguments={"query": COMPARE})])
    routing = '{"tools": [{"tool": "market_snapshot", "tickers": ["IBM", "MSFT"]}]}'
    async with stage(nats_server.url) as setting, scripted_model() as model:
        offer(setting)
        model.say(
            Rule(match="budget_per_ticker", replies=[ScriptedReply(text=routing)]),
            Rule(match="findings", replies=[ScriptedReply(text="IBM rose 2.7% over the last year, MSFT fell 13.4%.")]),
            Rule(match=None, replies=[call, ScriptedReply(text="IBM did better (source: sample).")]),
        )
        details = await serve_tool_details(setting.nats)
        async with agent(nats_server.url, model.base_url):
            await setting.visitor("c1", COMPARE, principal=ADA)
            answers = await setting.answered("c1")
        kept = await Analyses(setting.nats, "/test").read(COMPANY, "ada", f"{answers[0]['turnId']}-0-0")
        await details.drain(1.0)
    assert answers[0]["text"] == "IBM did better (source: sample)."
    assert kept is not None
    result: dict[str, Any] = json.loads(model.asked[-1]["messages"][-1]["content"])
    assert kept.record.report is not None
    assert kept.record.report["summary"] in json.dumps(result, ensure_ascii=False).encode().decode("unicode_escape")
    assert [data["tool"] for data in setting.told("tool.started")] == [NAME]


async def test_the_assistant_without_a_model_tells_the_report_with_sources_and_limitations(
    nats_server: NatsServer,
) -> None:
    async with stage(nats_server.url) as setting:
        offer(setting)
        details = await serve_tool_details(setting.nats)
        async with agent(nats_server.url):
            await setting.visitor("c1", "Compara IBM y MSFT en el último año", principal=ADA, locale="es")
            answers = await setting.answered("c1")
        await details.drain(1.0)
    text = answers[0]["text"]
    assert "IBM subió un 2,7 % y MSFT bajó un 13,4 %" in text
    for part in ("Fuentes:", "sample", "Limitaciones:", "no asesoramiento financiero"):
        assert part in text


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        (["compara Apple y Google este mes", "¿y en agosto?"], True),
        (["best day of AAPL in 2012", "and the worst?"], True),
        (["price of AAPL", "and in August?"], False),
    ],
)
def test_it_is_offered_to_what_continues_a_question_for_one(said: list[str], offered: bool) -> None:
    history = PromptHistory(tuple(PromptMessage(False, text, seq) for seq, text in enumerate(said)))
    tools = offered_with_analysis((), Requester("signed", "user", "free", "ada", "en"), history, demo_config())
    assert [tool.name for tool in tools] == ([NAME] if offered else [])
