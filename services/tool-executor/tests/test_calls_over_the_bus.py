"""Calls through a real executor: NATS, Valkey and the whole pipeline, asked from outside."""

import asyncio
import json
import time
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.company import ToolConfig
from contracts.envelope import CloudEvent
from contracts.errors import ErrorCode, ToolCode
from contracts.events.fact import CompanyConfigChanged
from contracts.events.tool import ToolCallCompleted
from contracts.tools_rpc import CATALOGUE, CatalogueRequest, ToolServiceData, ToolServiceRequest, tool_service
from runtime.bus.clock import JetStreamClock
from runtime.bus.publisher import Publisher
from runtime.calls.rpc import RpcClient, RpcServer
from runtime.errors import RpcError
from runtime.testing.servers import ValkeyServer, eventually
from tool_executor.domain.declaration import CallContext, Data
from tool_executor.domain.plans import Arguments, Plan
from tool_executor.testing.harness import (
    ANYTHING,
    CountingHandler,
    Memory,
    Someone,
    ToolRequester,
    asking,
    listen,
    running_executor,
    settings_of,
    tool_named,
)

RISK = {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115}
VISITOR = Someone(sub="visitor-1", role="visitor", plan=None)
PRICE = {
    "symbol": "AAPL",
    "price": 430.47,
    "change": None,
    "change_percent": None,
    "change_basis": "previous_close",
    "volume": 0,
    "source": "sample",
    "as_of": "2013-03-01T21:00:00Z",
}


async def test_a_call_is_answered_and_its_completion_is_a_fact(nats_client: Client, asker: ToolRequester):
    facts = await listen(nats_client, "tools.call.completed.v1.>")
    completed = await asker.call("calculate_risk_reward", RISK, call_id="call-1")
    assert completed.result.success
    assert completed.result.data == {
        "side": "long",
        "risk": 5,
        "reward": 15,
        "ratio": 3,
        "break_even_win_rate": 0.25,
    }
    assert completed.result.metadata.cached is False
    fact = await facts.next_msg(timeout=40)
    assert fact.subject == "tools.call.completed.v1.demo.user-1"
    assert CloudEvent[ToolCallCompleted].model_validate_json(fact.data).data == completed
    assert json.loads(fact.data)["data"]["result"]["metadata"].keys() == {"executionTime", "cached"}


async def test_a_calls_deadline_is_compared_with_the_bus_clock(
    nats_client: Client, valkey_server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
):
    async def in_five_minutes(clock: JetStreamClock) -> float:
        return time.time() + 300

    monkeypatch.setattr(JetStreamClock, "time", in_five_minutes)
    counting = CountingHandler()
    async with asking(nats_client, valkey_server.url, tools=(tool_named("count", counting),)) as asker:
        assert (await asker.failure("count", {})).reason == "deadline_passed"


async def test_a_call_without_a_valid_principal_is_refused(nats_client: Client, valkey_server: ValkeyServer):
    counting = CountingHandler()
    async with asking(nats_client, valkey_server.url, tools=(tool_named("count", counting),)) as asker:
        nobody = await asker.call("count", {}, anonymous=True)
        forged = await asker.call("count", {}, Someone(sub="a/b"))
        for completed in (nobody, forged):
            assert completed.result.error is not None
            assert completed.result.error.code == ToolCode.UNAUTHORIZED
        assert counting.runs == 0


async def test_a_principal_of_one_conversation_is_good_for_that_one_alone(asker: ToolRequester):
    bound = Someone(conversation="c1")
    own = await asker.call("calculate_risk_reward", RISK, bound, conversation="c1")
    assert own.result.success
    assert own.conversation_id == "c1"
    other = await asker.call("calculate_risk_reward", RISK, bound, conversation="c2")
    assert other.result.error is not None
    assert other.result.error.code == ToolCode.UNAUTHORIZED


async def test_a_tool_that_nobody_declared_is_not_found_and_the_id_stays_free(
    nats_client: Client, asker: ToolRequester
):
    await Memory().serve(nats_client)  # a name that is nobody's may be a tool of the company's own
    missing = await asker.call("no_such_tool", RISK, call_id="again")
    assert missing.result.error is not None
    assert missing.result.error.code == ToolCode.TOOL_NOT_FOUND
    found = await asker.call("calculate_risk_reward", RISK, call_id="again", attempt=2)
    assert found.result.success


async def test_visitors_get_what_their_company_lists_and_nothing_else(nats_client: Client, valkey_server: ValkeyServer):
    memory = Memory({"demo": ToolConfig(enabled_tools=["calculate_risk_reward", "paid"])})
    await memory.serve(nats_client)
    paid = tool_named("paid", CountingHandler(), required_plan="pro")
    async with asking(nats_client, valkey_server.url, tools=(paid,)) as asker:
        assert (await asker.call("calculate_risk_reward", RISK, VISITOR)).result.success
        for name in ("calculate_position_size", "get_price", "paid", "fetch_page"):
            error = await asker.failure(name, {}, VISITOR)
            assert error.code == ToolCode.TOOL_NOT_FOUND, name
        assert memory.asked == 1


async def test_a_change_of_the_settings_takes_effect_with_the_next_call(nats_client: Client, asker: ToolRequester):
    memory = Memory({"demo": ToolConfig(enabled_tools=["calculate_risk_reward"])})
    await memory.serve(nats_client)
    assert (await asker.call("calculate_risk_reward", RISK, VISITOR)).result.success
    changed = CompanyConfigChanged(**settings_of("demo", ToolConfig(), version=2).model_dump())
    event = CloudEvent[CompanyConfigChanged](source="/test", type="company.config.changed.v1", data=changed)
    await Publisher(nats_client).append("company.config.changed.v1.demo.-", event, stream="FACTS", msg_id="c2")

    async def refused() -> bool:
        return not (await asker.call("calculate_risk_reward", RISK, VISITOR)).result.success

    assert await eventually(refused)


@pytest.mark.parametrize(
    ("language", "plan", "needed", "says"),
    [
        ("en", "free", "pro", "Upgrade to Pro"),
        ("es", "free", "premium", "Pásate a Premium"),
        ("en", "pro", "premium", "Upgrade to Premium"),
        ("es", "nonsense", "pro", "Pásate a Pro"),
        ("en", None, "pro", "Upgrade to Pro"),
    ],
)
async def test_a_plan_that_does_not_suffice_is_told_what_would(
    nats_client: Client, valkey_server: ValkeyServer, language: str, plan: str | None, needed: str, says: str
):
    counting = CountingHandler()
    paid = tool_named("paid", counting, required_plan=needed)
    async with asking(nats_client, valkey_server.url, tools=(paid,)) as asker:
        error = await asker.failure("paid", {}, Someone(plan=plan, language=language))
        assert (error.code, error.required_plan) == (ToolCode.PLAN_REQUIRED, needed)
        assert says in error.message
        assert counting.runs == 0


async def test_wrong_arguments_are_told_field_by_field(asker: ToolRequester):
    error = await asker.failure("calculate_risk_reward", {"entry_price": "x", "bogus": 1})
    assert error.code == ToolCode.VALIDATION_ERROR
    assert {problem.field for problem in error.fields or []} == {
        "entry_price",
        "bogus",
        "stop_loss_price",
        "take_profit_price",
    }
    error = await asker.failure("calculate_risk_reward", RISK | {"take_profit_price": 90})
    assert error.code == ToolCode.VALIDATION_ERROR
    assert [problem.field for problem in error.fields or []] == ["take_profit_price"]


@pytest.mark.parametrize(
    ("tool", "arguments", "field", "es", "en"),
    [
        (
            "calculate_risk_reward",
            {**RISK, "take_profit_price": 90},
            "take_profit_price",
            "debe estar por encima de la entrada: por el stop es una posición larga",
            "must be above the entry: the stop makes this a long",
        ),
        (
            "create_paper_order",
            {"symbol": "IBM", "side": "buy", "quantity": 1, "order_type": "limit"},
            "limit_price",
            "una orden limit lo necesita",
            "a limit order needs it",
        ),
        ("get_price", {}, "symbol", "es obligatorio", "is required"),
        ("get_price", {"symbol": 5}, "symbol", "debe ser un texto", "must be a string"),
        (
            "get_ohlcv",
            {"symbol": "IBM", "timeframe": "1d", "limit": 0},
            "limit",
            "debe ser 1 o más",
            "must be 1 or more",
        ),
    ],
)
async def test_what_is_wrong_with_an_argument_is_said_in_the_callers_language(
    asker: ToolRequester, tool: str, arguments: dict[str, Any], field: str, es: str, en: str
):
    for language, message in (("es", es), ("en", en)):
        error = await asker.failure(tool, arguments, Someone(plan="pro", language=language))
        assert [(one.field, one.message) for one in error.fields or []] == [(field, message)]
        assert f"{field}: {message}" in error.message


async def test_secrets_in_the_arguments_are_not_in_the_fact(nats_client: Client, valkey_server: ValkeyServer):
    schema: dict[str, Any] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {"api_key": {}, "text": {}},
    }
    tool = tool_named("echo", CountingHandler(), input_schema=schema)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        secret = "gsk_" + "a" * 40
        completed = await asker.call("echo", {"api_key": "hunter2", "text": f"use {secret} now"})
        assert completed.result.success
        assert completed.arguments == {"api_key": "***", "text": "use *** now"}


async def test_a_handler_that_takes_too_long_is_a_timeout(nats_client: Client, valkey_server: ValkeyServer):
    async def endless(arguments: Arguments, context: CallContext) -> Data:
        await asyncio.Event().wait()
        return {}

    tool = tool_named("endless", endless, time_limit=0.1)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        for error in (
            (await asker.call("endless", {})).result.error,
            (await asker.call("calculate_risk_reward", RISK, seconds=-5)).result.error,
        ):
            assert error is not None
            assert error.code == ToolCode.TIMEOUT


async def test_what_a_handler_raises_is_an_error_with_a_reason(nats_client: Client, valkey_server: ValkeyServer):
    async def broken(arguments: Arguments, context: CallContext) -> Data:
        raise KeyError("a secret detail")

    async with asking(nats_client, valkey_server.url, tools=(tool_named("broken", broken),)) as asker:
        error = await asker.failure("broken", {})
        assert (error.code, error.reason) == (ToolCode.EXECUTION_ERROR, "internal")
        assert "secret" not in error.message


@pytest.mark.parametrize(("side_effects", "tries"), [(False, 2), (True, 1)])
async def test_output_that_does_not_fit_its_schema_is_tried_once_more_unless_it_has_effects(
    nats_client: Client, valkey_server: ValkeyServer, side_effects: bool, tries: int
):
    counting = CountingHandler()
    schema = ANYTHING | {"required": ["price"]}
    tool = tool_named("wrong", counting, output_schema=schema, side_effects=side_effects)
    async with asking(nats_client, valkey_server.url, tools=(tool,)) as asker:
        error = await asker.failure("wrong", {})
        assert error.code == ToolCode.INVALID_OUTPUT
        assert counting.runs == tries


async def test_memory_is_told_what_the_user_wrote_where_no_conversation_keeps_it(
    nats_client: Client, asker: ToolRequester
):
    asked: list[ToolServiceRequest] = []

    async def remember(request: ToolServiceRequest) -> ToolServiceData:
        asked.append(request)
        return ToolServiceData(
            result={"facts": [], "ended": [], "undo": [], "source": "memory", "as_of": "2026-01-05T15:00:00Z"}
        )

    await RpcServer(nats_client).serve(tool_service("remember", "memory"), remember)
    told = await asker.call("remember", {"fact": "I am vegan"}, category="memory", said=["I am vegan", "thanks"])
    assert told.result.success
    assert asked[0].caller.said == ["I am vegan", "thanks"]


async def test_a_price_comes_from_the_service_that_serves_it_and_its_spellings_share_it(
    nats_client: Client, asker: ToolRequester
):
    asked: list[ToolServiceRequest] = []

    async def get_price(request: ToolServiceRequest) -> ToolServiceData:
        asked.append(request)
        return ToolServiceData(result=PRICE)

    server = RpcServer(nats_client)
    await server.serve(tool_service("get_price", "market-adapter"), get_price)
    first = await asker.call("get_price", {"symbol": "aapl"}, category="market")
    assert first.result.data == PRICE
    assert asked[0].arguments == {"symbol": "AAPL"}
    assert (asked[0].caller.user_id, asked[0].caller.plan) == ("user-1", "free")
    second = await asker.call("get_price", {"symbol": " $AAPL "}, Someone(sub="user-2"), category="market")
    assert second.result.data == PRICE
    assert second.result.metadata.cached is True
    assert len(asked) == 1


async def test_a_service_that_died_over_a_look_up_is_asked_once_more(nats_client: Client, asker: ToolRequester):
    method = tool_service("get_price", "market-adapter")
    died = await nats_client.subscribe(method.subject, queue=method.queue or "")  # pyright: ignore[reportUnknownMemberType]

    async def get_price(request: ToolServiceRequest) -> ToolServiceData:
        return ToolServiceData(result=PRICE)

    async def restarted() -> None:
        await died.next_msg(timeout=10)
        await died.unsubscribe()
        await RpcServer(nats_client).serve(method, get_price)

    await Memory({"demo": ToolConfig()}).serve(nats_client)
    told, _ = await asyncio.gather(asker.call("get_price", {"symbol": "AAPL"}, seconds=2.0), restarted())
    assert told.result.data == PRICE


async def test_what_the_serving_service_cannot_answer_keeps_its_reason(nats_client: Client, asker: ToolRequester):
    async def get_price(request: ToolServiceRequest) -> ToolServiceData:
        raise RpcError(ErrorCode.NOT_FOUND, "TSLA is not in the sample data", reason="not_in_sample")

    await RpcServer(nats_client).serve(tool_service("get_price", "market-adapter"), get_price)
    error = await asker.failure("get_price", {"symbol": "TSLA"})
    assert (error.code, error.reason) == (ToolCode.EXECUTION_ERROR, "not_in_sample")


async def test_a_tool_that_nobody_serves_is_unavailable_and_may_be_asked_again(
    nats_client: Client, asker: ToolRequester
):
    async def get_price(request: ToolServiceRequest) -> ToolServiceData:
        return ToolServiceData(result=PRICE)

    await Memory({"demo": ToolConfig()}).serve(nats_client)
    error = await asker.failure("get_price", {"symbol": "AAPL"}, call_id="p", seconds=1.0)
    assert error.code == ToolCode.UNAVAILABLE
    await RpcServer(nats_client).serve(tool_service("get_price", "market-adapter"), get_price)
    assert (await asker.call("get_price", {"symbol": "AAPL"}, call_id="p", attempt=2)).result.success


async def test_the_catalogue_shows_each_caller_their_own_tools(nats_client: Client, valkey_server: ValkeyServer):
    site = ToolConfig(
        fetch_page_enabled=True, allowed_domains=["https://www.example.com"], enabled_tools=["calculate_risk_reward"]
    )
    await Memory({"demo": site}).serve(nats_client)
    paid = tool_named("paid", CountingHandler(), required_plan="pro")
    async with running_executor(nats_client, valkey_server.url, tools=(paid,)) as executor:
        client = RpcClient(nats_client)

        async def names(role: str, plan: str, company: str = "demo") -> list[str]:
            request = CatalogueRequest(company_id=company, role=role, plan=plan, language="en")
            return [tool.name for tool in (await client.call(CATALOGUE, request)).tools]

        def of(plan: Plan) -> list[str]:
            return [entry.tool.name for entry in executor.registry.for_plan(plan)]

        assert await names("visitor", "premium") == ["calculate_risk_reward", "search_knowledge", "fetch_page"]
        assert await names("user", "free") == of(Plan.FREE)
        assert await names("user", "pro") == of(Plan.PRO)
        assert await names("user", "premium") == of(Plan.PREMIUM)
        assert "paid" not in of(Plan.FREE)
        assert of(Plan.PRO)[-1] == "paid"
        assert await names("user", "unheard-of") == of(Plan.FREE)
        assert await names("visitor", "free", company="other") == ["search_knowledge"]
        assert "fetch_page" not in await names("user", "free", company="other")
