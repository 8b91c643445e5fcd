"""A customer's paper order from the chat to the account; an alert that finds its customer in a chat opened later."""

import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from nats.aio.client import Client
from nats.aio.msg import Msg

from agent.scripted_model.script import Rule, ScriptedCall, ScriptedReply
from agent.scripted_model.server import ScriptedModel, scripted_model
from contracts.channels import fact
from contracts.market_rpc import ALERTS_UNTOLD, HOLDINGS
from contracts.memory_rpc import UserRef
from gateway.testing.http import Http
from runtime.bus.connection import subscribe
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import eventually
from tests.support.chat_client import ChatClient
from tests.support.running_stack import RunningStack

pytestmark = pytest.mark.asyncio(loop_scope="module")
COMPANY = "acme"
"""Seconds for what comes with one of the next bars, on a busy machine."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def model() -> AsyncIterator[ScriptedModel]:
    async with scripted_model() as server:
        yield server


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def stack(tmp_path_factory: pytest.TempPathFactory, model: ScriptedModel) -> AsyncIterator[RunningStack]:
    """A stack whose market moves on by a session every five seconds, for ten minutes."""
    env = {**model.environment, "NEXUS_SAMPLE_SECONDS_PER_BAR": "5"}
    with RunningStack(tmp_path_factory.mktemp("nexus"), env) as running:
        await running.create_company(COMPANY, aiAutoResponseEnabled=True, responseDelayMs=0)
        yield running


class Facts:
    """What the bus tells of one kind about one customer, each fact once however often it comes."""

    def __init__(self) -> None:
        self._heard: dict[str, dict[str, Any]] = {}

    async def hear(self, message: Msg) -> None:
        """One more, or one again."""
        event = json.loads(message.data)
        self._heard.setdefault(event["id"], event["data"])

    def heard(self) -> list[dict[str, Any]]:
        """Their data so far, in order."""
        return list(self._heard.values())


class Customer:
    """Somebody on the plan pro, who calls tools beside the chat."""

    def __init__(self, stack: RunningStack, http: Http, bus: Client) -> None:
        self.user = f"u-{uuid.uuid4().hex}"
        self.token = stack.mint("user", self.user, COMPANY, plan="pro")
        self.who = UserRef(company_id=COMPANY, user_id=self.user)
        self.rpc = RpcClient(bus)
        self._bus = bus
        self._http = http

    async def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The data of a call that must succeed."""
        body = {"arguments": arguments}
        status, result, _ = await self._http("POST", f"/v2/tools/{tool}", token=self.token, json=body)
        assert status == 200, result
        return result["data"]

    async def facts(self, kind: str) -> Facts:
        """The facts of one kind from now on."""
        facts = Facts()
        await subscribe(self._bus, fact(kind, COMPANY, self.user), facts.hear)
        await self._bus.flush()
        return facts


@pytest_asyncio.fixture(loop_scope="module")
async def customer(stack: RunningStack) -> AsyncIterator[Customer]:
    bus = Client()
    await bus.connect(stack.facts()["urls"]["nats"])
    async with aiohttp.ClientSession(timeout=aiohttp.ClientTimeout(total=40)) as session:
        yield Customer(stack, Http(stack.url, session), bus)
    await bus.close()


async def test_an_order_is_asked_for_confirmed_filled_and_accounted_for(
    stack: RunningStack, model: ScriptedModel, customer: Customer
) -> None:
    order = {"symbol": "IBM", "side": "buy", "quantity": 3, "order_type": "market"}
    asking = ScriptedReply(tool_calls=[ScriptedCall(name="create_paper_order", arguments=order)])
    model.say(Rule(match="buy", replies=[asking]), default=ScriptedReply(text="Shall I buy 3 IBM for you?"))
    fills = await customer.facts("order.filled.v1")
    async with stack.chat(customer.token, locale="en") as chat:
        answer = await chat.ask("buy 3 IBM")
        (action,) = answer["actions"]
        assert (action["state"], action["summary"]) == ("pending", "Buy 3 IBM at market (paper)")
        holdings = await customer.rpc.call(HOLDINGS, customer.who, deadline=10)
        assert (holdings.portfolio["cash"], holdings.portfolio["reserved"]) == (100_000, 0), "nothing without a yes"
        # The yes is given on another of the customer's screens, and every screen sees it.
        async with ChatClient(stack.url, customer.token) as screen:
            welcome = await screen.hello(locale="en")
            (waiting,) = welcome["pendingActions"]
            assert (waiting["id"], waiting["state"]) == (action["id"], "pending")
            same = ("symbol", "side", "orderType", "quantity", "currency", "status", "contentHash", "paper")
            assert {name: waiting["details"][name] for name in same} == {name: action["details"][name] for name in same}
            for _ in range(2):
                mark = len(screen.frames)
                await screen.send_frame("action.confirm", actionId=action["id"])
                updated = await screen.wait_for("action.updated", after=mark)
                assert (updated["action"]["id"], updated["action"]["state"]) == (action["id"], "confirmed")
            mark = len(screen.frames)
            await screen.send_frame("action.reject", actionId=action["id"])
            late = await screen.wait_for("action.updated", after=mark)
            assert late["action"]["state"] == "confirmed", "the first decision stands"
        updated = await chat.wait_for("action.updated")
        assert updated["action"]["state"] == "confirmed"
        (fill,) = await eventually(fills.heard)
    assert (fill["orderId"], fill["quantity"], fill["remaining"], fill["state"]) == (action["id"], "3", "0", "filled")
    paid = float(fill["amount"])
    portfolio = await customer.data("get_portfolio")
    (position,) = portfolio["positions"]
    assert (position["symbol"], position["quantity"], position["cost"]) == ("IBM", 3, paid)
    assert round(portfolio["cash"] + paid, 2) == 100_000
    assert portfolio["reserved"] == 0
    assert round(portfolio["cash"] + position["value"], 2) == portfolio["equity"]
    (trade,) = (await customer.data("get_trade_history"))["trades"]
    assert (trade["order_id"], trade["quantity"], trade["amount"]) == (action["id"], 3, paid)
    assert (await customer.data("get_pending_orders"))["orders"] == []
    async with ChatClient(stack.url, customer.token) as later:
        assert (await later.hello(locale="en"))["pendingActions"] == []


async def test_an_alert_fires_once_and_reaches_a_chat_that_is_opened_later(
    stack: RunningStack, customer: Customer
) -> None:
    fired = await customer.facts("alert.triggered.v1")
    made = await customer.data("create_alert", symbol="IBM", condition=">=", price=1, message="IBM moves")
    await eventually(fired.heard)
    assert (await customer.data("list_alerts"))["alerts"] == []

    async def nothing_untold() -> bool:
        return not (await customer.rpc.call(ALERTS_UNTOLD, customer.who, deadline=5)).alerts

    async with stack.chat(customer.token, locale="en") as chat:
        told = (await chat.wait_for("alert.triggered"))["alert"]
        assert (told["id"], told["symbol"], told["message"]) == (made["alert_id"], "IBM", "IBM moves")
        assert chat.frames[0]["type"] == "welcome"
        await eventually(nothing_untold)
    async with stack.chat(customer.token, locale="en") as chat:
        second = await customer.data("create_alert", symbol="IBM", condition=">=", price=2)
        live = (await chat.wait_for("alert.triggered"))["alert"]
        assert live["id"] == second["alert_id"], "what was told is not told again"
        await eventually(lambda: len(fired.heard()) > 1)
        assert [one["alert"]["id"] for one in fired.heard()] == [made["alert_id"], second["alert_id"]]
