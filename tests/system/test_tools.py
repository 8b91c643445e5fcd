"""Every tool of the catalogue as a customer calls it: HTTP, the bus, a real executor, the real market behind it."""

import asyncio
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import pytest

from tests.support.running_stack import RunningStack

READS: dict[str, dict[str, Any]] = {
    "get_price": {"symbol": "IBM"},
    "get_ohlcv": {"symbol": "IBM", "timeframe": "1d", "limit": 5},
    "get_indicators": {
        "symbol": "MSFT",
        "indicators": ["RSI", "MACD", "BB", "SMA", "EMA", "ATR", "VWAP", "OBV", "ADX"],
    },
    "get_fundamentals": {"symbol": "IBM"},
    "market_snapshot": {"tickers": ["IBM", "MSFT"]},
    "fundamentals_events": {"tickers": ["IBM"]},
    "get_news": {"symbol": "IBM", "limit": 2},
    "get_sentiment": {"symbol": "IBM"},
    "get_ml_signals": {"symbol": "IBM"},
    "get_portfolio": {},
    "get_trade_history": {"limit": 5},
    "get_pending_orders": {},
    "list_alerts": {},
    "get_watchlist": {},
    "calculate_position_size": {
        "capital": 10_000,
        "entry_price": 150,
        "stop_loss_price": 145,
        "risk_percent": 0.02,
    },
    "calculate_risk_reward": {"entry_price": 100, "stop_loss_price": 95, "take_profit_price": 115},
    "explain_concept": {"concept": "stop loss"},
    "search_memory": {"query": "stop loss"},
    "search_knowledge": {"query": "what does Pro cost"},
    "fetch_page": {"path": "/pricing"},
}
CHANGES: dict[str, dict[str, Any]] = {
    "create_paper_order": {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "market"},
    "cancel_paper_order": {"order_id": "nobodys"},
    "create_alert": {"symbol": "IBM", "condition": ">=", "price": 900},
    "delete_alert": {"alert_id": "nobodys"},
    "add_to_watchlist": {"symbol": "IBM"},
    "remove_from_watchlist": {"symbol": "IBM"},
    "remember": {"fact": "I drink tea"},
    "forget": {"what": "tea"},
    "update_memory": {"id": "nobodys", "fact": "I drink tea"},
}
PLANS = {
    "pro": {
        "get_sentiment",
        "get_ml_signals",
        "get_portfolio",
        "get_trade_history",
        "create_paper_order",
        "cancel_paper_order",
        "get_pending_orders",
        "create_alert",
        "list_alerts",
        "delete_alert",
    },
    "premium": {"get_ml_features"},
}
ALL = {**READS, **CHANGES, "get_ml_features": {"symbol": "IBM", "prediction_id": "p"}}
COMPUTED = {"calculate_position_size", "calculate_risk_reward", "explain_concept", "search_knowledge", "fetch_page"}
"""What is no market data and nobody's own: the figures come from the arguments, the texts from a book or a page."""
NEVER_KEPT = {
    "get_pending_orders",
    "list_alerts",
    "get_watchlist",
    "calculate_position_size",
    "calculate_risk_reward",
    "search_memory",
    "search_knowledge",
}
ABOUT_A_SYMBOL = {
    **{tool: arguments for tool, arguments in ALL.items() if "symbol" in arguments and tool != "remove_from_watchlist"},
    "get_ml_features": {"symbol": "IBM", "prediction_id": "ZZZZQ-20130301-h5-v1"},
}


class Customer:
    """Somebody with a plan of their own, so that no test meets another's limits."""

    def __init__(self, stack: RunningStack, http: aiohttp.ClientSession, plan: str) -> None:
        self._stack = stack
        self._http = http
        self._token = stack.mint("user", f"u-{uuid.uuid4().hex}", plan=plan)

    async def call(
        self, tool: str, arguments: Mapping[str, Any], key: str | None = None
    ) -> tuple[int, dict[str, Any], Mapping[str, str]]:
        """Status, result and headers."""
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Language": "en"}
        if key is not None:
            headers["Idempotency-Key"] = key
        url = f"{self._stack.url}/v2/tools/{tool}"
        async with self._http.post(url, json={"arguments": dict(arguments)}, headers=headers) as answer:
            return answer.status, await answer.json(), answer.headers

    async def data(self, tool: str, arguments: Mapping[str, Any], key: str | None = None) -> dict[str, Any]:
        """The data of a call that must succeed."""
        status, result, _ = await self.call(tool, arguments, key)
        assert status == 200, result
        return result["data"]

    async def listed(self) -> dict[str, dict[str, Any]]:
        """GET /v2/tools, by name."""
        headers = {"Authorization": f"Bearer {self._token}"}
        async with self._http.get(f"{self._stack.url}/v2/tools", headers=headers) as answer:
            assert answer.status == 200
            return {tool["name"]: tool for tool in (await answer.json())["tools"]}


@pytest.fixture
async def http() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=70)) as session:
        yield session


@pytest.fixture
def premium(stack: RunningStack, http: aiohttp.ClientSession) -> Customer:
    return Customer(stack, http, "premium")


@pytest.mark.parametrize("tool", READS)
async def test_a_good_call_gives_data_with_its_source(premium: Customer, tool: str):
    data = await premium.data(tool, READS[tool])
    for part in (data, *dict(data.get("tickers", {})).values()):
        assert tool in COMPUTED or (part["source"] and part["as_of"])


async def test_what_a_signal_was_made_of_is_asked_with_its_id(premium: Customer):
    signal = await premium.data("get_ml_signals", {"symbol": "ibm"})
    features = await premium.data("get_ml_features", {"symbol": "IBM", "prediction_id": signal["prediction_id"]})
    assert sum(feature["importance"] for feature in features["features"]) == pytest.approx(1, abs=0.001)


@pytest.mark.parametrize("tool", ALL)
async def test_an_argument_that_a_tool_has_not_is_refused_by_name(premium: Customer, tool: str):
    status, result, _ = await premium.call(tool, {**ALL[tool], "user_id": "ana"})
    assert (status, result["error"]["code"]) == (422, "VALIDATION_ERROR")
    assert [field["field"] for field in result["error"]["fields"]] == ["user_id"]


@pytest.mark.parametrize("tool", ALL)
async def test_what_is_missing_or_of_another_kind_is_refused_by_name(
    stack: RunningStack, http: aiohttp.ClientSession, premium: Customer, tool: str
):
    parameters = (await premium.listed())[tool]["parameters"]
    wrong = [(name, {**ALL[tool], name: {"is": "no value"}}) for name in parameters["properties"]]
    wrong += [(name, {key: ALL[tool][key] for key in ALL[tool] if key != name}) for name in parameters["required"]]
    for name, arguments in wrong:
        status, result, _ = await Customer(stack, http, "premium").call(tool, arguments)
        assert (status, result["error"]["code"]) == (422, "VALIDATION_ERROR")
        assert {field["field"] for field in result["error"]["fields"]} == {name}


@pytest.mark.parametrize("plan", ["free", "pro", "premium"])
async def test_each_plan_has_its_own_tools_and_is_told_which_plan_has_the_others(
    stack: RunningStack, http: aiohttp.ClientSession, plan: str
):
    customer = Customer(stack, http, plan)
    beyond = {
        "free": {**dict.fromkeys(PLANS["pro"], "pro"), **dict.fromkeys(PLANS["premium"], "premium")},
        "pro": dict.fromkeys(PLANS["premium"], "premium"),
        "premium": {},
    }[plan]
    listed = await customer.listed()
    assert set(ALL) - set(beyond) <= set(listed)
    assert not set(beyond) & set(listed)
    for tool, needed in beyond.items():
        status, result, _ = await customer.call(tool, ALL[tool])
        assert (status, result["error"]["code"], result["error"]["requiredPlan"]) == (403, "PLAN_REQUIRED", needed)
        assert f"Upgrade to {needed.capitalize()}" in result["error"]["message"]


async def test_over_the_limit_a_call_is_refused_until_the_window_opens_and_the_quota_says_so(premium: Customer):
    quota = (await premium.listed())["get_news"]["quota"]["minute"]
    assert (quota["limit"], quota["remaining"]) == (10, 10)
    for spent in range(1, 11):
        status, _, headers = await premium.call("get_news", {"symbol": "IBM"})
        assert (status, headers["RateLimit-Remaining"]) == (200, str(10 - spent))
    status, result, headers = await premium.call("get_news", {"symbol": "IBM"})
    assert (status, result["error"]["code"]) == (429, "RATE_LIMIT")
    assert 1 <= int(headers["Retry-After"]) <= 60
    quota = (await premium.listed())["get_news"]["quota"]["minute"]
    assert (quota["remaining"], quota["resetAt"]) == (0, result["error"]["resetAt"])


@pytest.mark.parametrize("tool", ALL)
async def test_each_tool_lets_its_limit_through_and_no_call_more(premium: Customer, tool: str):
    limit = (await premium.listed())[tool]["quota"]["minute"]["limit"]
    # Refused for its arguments a call counts too, and costs nobody anything.
    asked = [premium.call(tool, {**ALL[tool], "user_id": "ana"}) for _ in range(limit + 3)]
    codes = Counter(result["error"]["code"] for _, result, _ in await asyncio.gather(*asked))
    assert codes == {"VALIDATION_ERROR": limit, "RATE_LIMIT": 3}


@pytest.mark.parametrize("tool", READS)
async def test_a_result_is_kept_where_it_may_be(premium: Customer, tool: str):
    kept = [(await premium.call(tool, READS[tool]))[1]["metadata"]["cached"] for _ in range(4)]
    assert any(kept[1:]) is (tool not in NEVER_KEPT)


async def test_spellings_of_a_symbol_share_a_result_among_all(stack: RunningStack, http: aiohttp.ClientSession):
    asked = {"symbol": "MSFT", "timeframe": "1w", "limit": 7}
    first = await Customer(stack, http, "free").call("get_ohlcv", asked)
    second = await Customer(stack, http, "pro").call("get_ohlcv", {"limit": 7.0, "timeframe": "1w", "symbol": " $msft"})
    assert second[1]["data"] == first[1]["data"]
    assert second[1]["metadata"]["cached"] is True


@pytest.mark.parametrize("tool", ALL)
async def test_the_same_key_is_the_same_call_and_with_other_arguments_a_conflict(premium: Customer, tool: str):
    status, first, _ = await premium.call(tool, ALL[tool], "key-1")
    assert (await premium.call(tool, ALL[tool], "key-1"))[:2] == (status, first)
    status, result, _ = await premium.call(tool, {**ALL[tool], "more": 1}, "key-1")
    assert (status, result["error"]["code"]) == (409, "CONFLICT")


async def test_another_key_is_another_order(premium: Customer):
    order = CHANGES["create_paper_order"]
    first = await premium.data("create_paper_order", order, "key-1")
    assert first["status"] == "pending_confirmation"
    other = await premium.data("create_paper_order", order, "key-2")
    assert other["action_id"] != first["action_id"]


async def test_an_order_waits_and_is_taken_back(premium: Customer):
    await premium.data("get_portfolio", {})
    created = await premium.data("create_paper_order", CHANGES["create_paper_order"])
    (pending,) = (await premium.data("get_pending_orders", {}))["orders"]
    cancelled = await premium.data("cancel_paper_order", {"order_id": pending["order_id"]})
    assert cancelled["status"] == "cancelled"
    assert created["order"]["order_id"] == pending["order_id"]
    assert (await premium.data("get_pending_orders", {}))["orders"] == []
    portfolio = await premium.call("get_portfolio", {})
    assert portfolio[1]["metadata"]["cached"] is False, "a cancel ends what is kept"
    assert portfolio[1]["data"]["cash"] == 100_000


async def test_an_alert_is_made_listed_and_deleted(premium: Customer):
    made = await premium.data("create_alert", CHANGES["create_alert"])
    (listed,) = (await premium.data("list_alerts", {"symbol": "ibm"}))["alerts"]
    assert listed["alert_id"] == made["alert_id"]
    await premium.data("delete_alert", {"alert_id": made["alert_id"]})
    assert (await premium.data("list_alerts", {}))["alerts"] == []


async def test_a_watchlist_has_each_symbol_once(premium: Customer):
    for symbol in ("ibm", "IBM", "msft"):
        await premium.data("add_to_watchlist", {"symbol": symbol})
    assert (await premium.data("get_watchlist", {}))["symbols"] == ["IBM", "MSFT"]
    assert (await premium.data("remove_from_watchlist", {"symbol": "Ibm"}))["symbols"] == ["MSFT"]


@pytest.mark.parametrize("tool", ABOUT_A_SYMBOL)
async def test_a_symbol_that_nobody_knows_is_an_error_that_says_so(premium: Customer, tool: str):
    status, result, _ = await premium.call(tool, {**ABOUT_A_SYMBOL[tool], "symbol": "ZZZZQ"})
    assert (status, result["error"]["code"]) == (502, "EXECUTION_ERROR")
    assert result["error"]["reason"] in {"not_in_sample", "no_data"}
    assert "ZZZZQ" in result["error"]["message"]


@pytest.mark.parametrize("tool", ["market_snapshot", "fundamentals_events"])
async def test_among_several_symbols_the_one_that_nobody_knows_is_named(premium: Customer, tool: str):
    data = await premium.data(tool, {"tickers": ["IBM", "ZZZZQ"]})
    assert set(data["tickers"]) == {"IBM"}
    (failure,) = data["errors"]
    assert (failure["ticker"], failure["reason"]) == ("ZZZZQ", "not_in_sample")


async def test_a_tool_that_is_none_is_not_found(premium: Customer):
    status, result, _ = await premium.call("get_weather", {})
    assert (status, result["error"]["code"]) == (404, "TOOL_NOT_FOUND")
