"""/v2/tools: who may call, what goes onto the bus, and what comes back, with a stand-in for the executor."""

import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from typing import Any

import aiohttp
import pytest
from nats.aio.client import Client

from contracts.errors import OUTCOME_UNKNOWN, ToolCode
from contracts.events.tool import (
    FieldError,
    QuotaView,
    ToolResult,
)
from gateway.testing.executor import ExecutorStandIn
from gateway.testing.harness import GatewayUnderTest, MemoryStandIn
from gateway.testing.tokens import TokenMaker
from runtime.testing.servers import NatsServer, eventually


@pytest.fixture
async def executor(nats_client: Client) -> ExecutorStandIn:
    return ExecutorStandIn(nats_client)


@pytest.fixture
async def session() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session:
        yield session


@dataclass
class Caller:
    """Calls as one user."""

    gateway: GatewayUnderTest
    session: aiohttp.ClientSession
    token: str

    async def __call__(
        self, method: str, path: str, headers: dict[str, str] | None = None, **options: Any
    ) -> tuple[int, Any, Mapping[str, str]]:
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        async with self.session.request(method, self.gateway.url + path, headers=sent, **options) as answer:
            return answer.status, await answer.json(content_type=None), answer.headers


@pytest.fixture
def ana(gateway: GatewayUnderTest, session: aiohttp.ClientSession, tokens: TokenMaker) -> Caller:
    return Caller(gateway, session, tokens.user("ana", "user", plan="pro"))


async def test_the_catalogue_is_my_plans_with_what_is_left_of_each_limit(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    status, body, _ = await ana("GET", "/v2/tools", {"Accept-Language": "en-GB,en;q=0.9"})
    assert status == 200
    (tool,) = body["tools"]
    assert {"id", "name", "description", "category", "requiredPlan", "parameters", "quota"} <= tool.keys()
    assert tool["description"] == "Price"
    assert tool["quota"]["minute"]["remaining"] == 59
    asked = executor.listed[0]
    assert (asked.company_id, asked.user_id, asked.role, asked.plan) == ("acme", "ana", "user", "pro")


async def test_the_catalogue_of_one_category(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    names: dict[str, list[str]] = {}
    for category in ("market", "news"):
        status, body, _ = await ana("GET", f"/v2/tools?category={category}")
        assert status == 200
        names[category] = [tool["name"] for tool in body["tools"]]
    assert names == {"market": ["get_price"], "news": []}
    status, body, _ = await ana("GET", "/v2/tools?category=weather")
    assert (status, body["code"], body["errors"][0]["field"]) == (422, "BAD_FIELD", "category")


async def test_a_call_goes_through_the_bus_under_a_signed_principal(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    status, body, headers = await ana("POST", "/v2/tools/get_price", json={"arguments": {"symbol": "IBM"}})
    assert (status, body["success"], body["data"]) == (200, True, {"n": 1})
    assert (headers["RateLimit-Limit"], headers["RateLimit-Remaining"]) == ("60", "59")
    assert 0 < int(headers["RateLimit-Reset"]) <= 30
    call = executor.calls[0]
    assert executor.subjects == ["tools.call.requested.v1.market"]
    assert call.arguments == {"symbol": "IBM"}
    assert call.principal is not None
    assert call.principal.count(".") == 2
    assert call.deadline is not None


async def test_the_same_idempotency_key_is_the_same_call(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    for key in ("order no. 1 / ñ", "order no. 1 / ñ", "order no. 2", None):
        headers = {"Idempotency-Key": key} if key else {}
        assert (await ana("POST", "/v2/tools/get_price", headers, json={}))[0] == 200
    ids = [call.call_id for call in executor.calls]
    assert ids[0] == ids[1]
    assert len(set(ids)) == 3


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (ToolCode.TOOL_NOT_FOUND, 404),
        (ToolCode.PLAN_REQUIRED, 403),
        (ToolCode.VALIDATION_ERROR, 422),
        (ToolCode.CONFLICT, 409),
        (ToolCode.EXECUTION_ERROR, 502),
        (ToolCode.INVALID_OUTPUT, 502),
        (ToolCode.UNKNOWN_OUTCOME, 502),
        (ToolCode.UNAVAILABLE, 503),
        (ToolCode.TIMEOUT, 504),
        (ToolCode.UNAUTHORIZED, 401),
        ("SOMETHING_NEW", 502),
    ],
)
async def test_every_outcome_has_its_status_and_the_body_is_the_result(
    ana: Caller, executor: ExecutorStandIn, code: str, status: int
):
    await executor.start()
    executor.fails(code, required_plan="pro", fields=[FieldError(field="symbol", message="is missing")])
    answered, body, headers = await ana("POST", "/v2/tools/get_price", json={})
    assert answered == status
    assert body["success"] is False
    assert (body["error"]["code"], body["error"]["requiredPlan"]) == (code, "pro")
    assert body["error"]["fields"] == [{"field": "symbol", "message": "is missing"}]
    assert ("Retry-After" in headers) == (status == 503)


async def test_what_the_answer_says_is_left_is_not_asked_for_again(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    soon = int((time.time() + 30) * 1000)
    executor.quota = {
        "minute": QuotaView(limit=10, remaining=5, reset_at=soon),
        "day": QuotaView(limit=100, remaining=3, reset_at=soon),
    }
    _, _, headers = await ana("POST", "/v2/tools/get_price", json={})
    assert (headers["RateLimit-Limit"], headers["RateLimit-Remaining"]) == ("100", "3")
    assert not any(request.with_quota for request in executor.listed)


async def test_over_the_limit_it_says_when_to_come_back(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    executor.fails(ToolCode.RATE_LIMIT, reset_at=int((time.time() + 12) * 1000))
    status, body, headers = await ana("POST", "/v2/tools/get_price", json={})
    assert (status, body["error"]["code"]) == (429, "RATE_LIMIT")
    assert 10 <= int(headers["Retry-After"]) <= 13


async def test_a_name_that_no_tool_can_have_is_not_found_without_asking(ana: Caller, executor: ExecutorStandIn):
    await executor.start()
    status, body, _ = await ana("POST", "/v2/tools/get%20price", json={})
    assert (status, body["error"]["code"]) == (404, "TOOL_NOT_FOUND")
    assert body["error"]["message"] == "No hay ninguna herramienta con ese nombre."
    english = {"Accept-Language": "en"}
    _, body, _ = await ana("POST", "/v2/tools/market.get_price", json={}, headers=english)
    assert body["error"]["message"] == "There is no tool of that name."
    assert executor.calls == []


async def test_who_names_no_language_is_told_in_the_companys(
    ana: Caller, executor: ExecutorStandIn, memory: MemoryStandIn
):
    await executor.start()
    memory.add_company("acme", aiAutoResponseEnabled=True, languages=["en"])
    _, body, _ = await ana("POST", "/v2/tools/get%20price", json={})
    assert body["error"]["message"] == "There is no tool of that name."
    await ana("POST", "/v2/tools/get_price", json={"arguments": {"symbol": "AAPL"}})
    assert executor.calls[0].language == "en"


async def test_a_name_that_is_not_in_the_catalogue_is_for_the_executor_to_refuse(
    ana: Caller, executor: ExecutorStandIn
):
    await executor.start()
    executor.fails(ToolCode.TOOL_NOT_FOUND)
    assert (await ana("POST", "/v2/tools/nonsense", json={}))[0] == 404
    assert executor.subjects == ["tools.call.requested.v1.unknown"]


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize("role", ["commercial", "admin"])
async def test_human_agents_call_no_tools(
    gateway: GatewayUnderTest, session: aiohttp.ClientSession, tokens: TokenMaker, role: str
):
    person = Caller(gateway, session, tokens.user("eva", role))
    assert (await person("GET", "/v2/tools"))[0] == 403
    assert (await person("POST", "/v2/tools/get_price", json={}))[0] == 403


async def test_visitors_and_strangers_call_no_tools(
    gateway: GatewayUnderTest, session: aiohttp.ClientSession, tokens: TokenMaker
):
    assert (await Caller(gateway, session, tokens.visitor("v1"))("GET", "/v2/tools"))[0] == 403
    assert (await Caller(gateway, session, "nonsense")("POST", "/v2/tools/get_price", json={}))[0] == 401


@pytest.mark.parametrize("body", ["[]", '{"arguments": []}', "{", ""])
async def test_a_body_that_is_none_is_answered_with_a_result(ana: Caller, body: str):
    status, result, _ = await ana(
        "POST", "/v2/tools/get_price", {"Content-Type": "application/json"}, data=body.encode()
    )
    error = ToolResult.model_validate(result).error
    assert (status, error and error.code, bool(error and error.fields)) == (422, "VALIDATION_ERROR", True)


async def test_a_key_that_is_too_long_is_answered_with_a_result(ana: Caller):
    headers = {"Idempotency-Key": "k" * 300, "Accept-Language": "es"}
    status, result, _ = await ana("POST", "/v2/tools/get_price", headers, json={})
    assert (status, result["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert result["error"]["fields"][0]["field"] == "Idempotency-Key"


@pytest.mark.parametrize(
    ("value", "field"),
    [
        (rb'"\ud800"', "body"),
        (b'"\xed\xa0\x80"', "body"),
        (b"NaN", "symbol"),
        (b"[1e999]", "symbol.0"),
        (b"-Infinity", "symbol"),
        (b"1" + b"0" * 30, "symbol"),
    ],
)
async def test_arguments_that_json_cannot_carry_on_are_not_valid(
    ana: Caller, executor: ExecutorStandIn, value: bytes, field: str
):
    await executor.start()
    headers, body = {"Content-Type": "application/json"}, b'{"arguments": {"symbol": %b}}' % value
    status, result, _ = await ana("POST", "/v2/tools/get_price", headers, data=body)
    assert (status, result["error"]["code"], executor.calls) == (422, "VALIDATION_ERROR", [])
    assert [fault["field"] for fault in result["error"]["fields"]] == [field]
    assert (await ana("POST", "/v2/tools/get_price", headers, data=b'{"arguments": {}}'))[0] == 200


@pytest.mark.usefixtures("memory")
async def test_with_no_executor_there_a_call_is_unavailable(ana: Caller):
    status, body, headers = await ana("POST", "/v2/tools/get_price", json={})
    assert (status, body["error"]["code"]) == (503, "UNAVAILABLE")
    assert headers["Retry-After"] == "2"
    assert body["error"]["message"].startswith("Ahora mismo no se puede usar ninguna herramienta.")
    _, body, _ = await ana("POST", "/v2/tools/get_price", {"Accept-Language": "en"}, json={})
    assert body["error"]["message"].startswith("No tool can be called now.")
    assert (await ana("GET", "/v2/tools"))[0] == 503


async def test_a_call_that_gets_no_answer_is_asked_for_again_under_the_same_id(
    ana: Caller, executor: ExecutorStandIn, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.adapters.tools.ATTEMPT_SECONDS", (0.2, 5.0))
    executor.silent = 1
    await executor.start()
    assert (await ana("POST", "/v2/tools/get_price", json={}))[0] == 200
    assert [call.attempt for call in executor.calls] == [1, 2]
    assert executor.calls[0].call_id == executor.calls[1].call_id


@pytest.mark.own_servers
async def test_what_a_silent_bus_may_have_taken_is_not_said_to_be_not_done(
    ana: Caller, executor: ExecutorStandIn, nats_server: NatsServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.adapters.tools.ATTEMPT_SECONDS", (0.5, 5.0))
    executor.side_effects = True
    await executor.start()
    key = {"Idempotency-Key": "one-alert"}
    assert (await ana("POST", "/v2/tools/get_price", key, json={}))[0] == 200
    nats_server.pause()
    try:
        status, body, _ = await ana("POST", "/v2/tools/get_price", {"Idempotency-Key": "another"}, json={})
    finally:
        nats_server.resume()
    assert (status, body["error"]["code"], body["error"]["reason"]) == (504, "TIMEOUT", OUTCOME_UNKNOWN)
    # It was in the server's socket all the time, and the call has been made now.
    await eventually(lambda: len(executor.calls) == 2)


@pytest.mark.parametrize(
    ("effects", "reason", "end"),
    [(True, OUTCOME_UNKNOWN, "Compruébalo antes de repetirlo."), (False, None, "Inténtalo de nuevo en un momento.")],
)
async def test_with_no_answer_to_any_request_an_effect_is_unknown_and_a_lookup_may_be_repeated(
    ana: Caller,
    executor: ExecutorStandIn,
    monkeypatch: pytest.MonkeyPatch,
    effects: bool,
    reason: str | None,
    end: str,
):
    monkeypatch.setattr("gateway.adapters.tools.ATTEMPT_SECONDS", (0.2, 0.2))
    executor.silent = 2
    executor.side_effects = effects
    await executor.start()
    status, body, _ = await ana("POST", "/v2/tools/get_price", json={})
    assert (status, body["error"]["code"], body["error"].get("reason")) == (504, "TIMEOUT", reason)
    assert body["error"]["message"].endswith(end)


async def test_nobody_waits_out_the_time_of_a_call_for_an_executor_that_stands_still(
    ana: Caller, executor: ExecutorStandIn, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("gateway.adapters.tools.ATTEMPT_SECONDS", (0.2, 5.0))
    monkeypatch.setattr("gateway.adapters.tools._EXECUTOR_SECONDS", 0.2)
    executor.side_effects = True
    await executor.start()
    assert (await ana("POST", "/v2/tools/get_price", json={}))[0] == 200
    executor.stopped = True
    status, body, _ = await ana("POST", "/v2/tools/get_price", json={})
    assert (status, body["error"]["code"], body["error"]["reason"]) == (504, "TIMEOUT", OUTCOME_UNKNOWN)
    assert [call.attempt for call in executor.calls] == [1, 1]
