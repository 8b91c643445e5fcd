"""Paper trading and alerts through real processes that die: what was asked for happens once, and the sums are right."""

import asyncio
import json
import signal
from typing import Any

import pytest
from nats.aio.client import Client

from contracts.company_rpc import CompanyRequest
from contracts.envelope import CloudEvent
from contracts.events.market import AlertTriggered, OrderFilled
from contracts.market_rpc import (
    ACTION_DECIDE,
    ALERTS_UNTOLD,
    COMPANY_FORGET,
    HOLDINGS,
    QUEUE,
    USER_FORGET,
    ActionDecideRequest,
)
from contracts.memory_rpc import UserRef
from contracts.tools_rpc import Caller, ToolServiceRequest, tool_service
from market_adapter.testing.process import Stack
from runtime.bus.connection import jetstream
from runtime.calls.rpc import RpcClient
from runtime.testing.servers import eventually

ANN = UserRef(company_id="demo", user_id="ann")


async def call(client: Client, tool: str, call_id: str = "c1", **arguments: Any) -> dict[str, Any]:
    caller = Caller(company_id="demo", user_id="ann", role="user", plan="pro", conversation_id="talk")
    request = ToolServiceRequest(call_id=call_id, tool=tool, arguments=arguments, caller=caller)
    return (await RpcClient(client).call(tool_service(tool, QUEUE), request, deadline=40)).result


async def confirmed(client: Client, call_id: str, **order: Any) -> str:
    made = await call(client, "create_paper_order", call_id, **order)
    asked = {"company_id": "demo", "user_id": "ann", "action_id": made["action_id"], "decision": "confirm"}
    reply = await RpcClient(client).call(ACTION_DECIDE, ActionDecideRequest.model_validate(asked), deadline=40)
    assert reply.action.state.value == "confirmed"
    return made["action_id"]


async def facts(client: Client, kind: str) -> list[dict[str, Any]]:
    """Everything that the stream holds of one kind, in order."""
    js = jetstream(client)
    found: list[dict[str, Any]] = []
    for sequence in range(1, (await js.stream_info("FACTS")).state.messages + 1):
        event = json.loads((await js.get_msg("FACTS", sequence)).data or b"{}")
        if event["type"] == kind:
            found.append(event)
    return found


async def test_orders_and_alerts_happen_once_though_replicas_are_killed(stack: Stack, nats_streams: Client) -> None:
    client = nats_streams
    async with stack.service(1.0) as one, stack.service(1.0) as two:
        await one.ready()
        await two.ready()
        orders = [
            await confirmed(client, f"o{n}", symbol=symbol, side="buy", quantity=n + 1, order_type="market")
            for n, symbol in enumerate(["IBM", "AAPL", "MSFT", "GOOG"])
        ]
        alert = (await call(client, "create_alert", "a1", symbol="IBM", condition=">=", price=1))["alert_id"]
        await one.end(signal.SIGKILL)
        async with stack.service(1.0) as three:
            await three.ready()

            async def all_told() -> bool:
                filled = {event["data"]["orderId"] for event in await facts(client, "order.filled.v1")}
                return filled == set(orders) and len(await facts(client, "alert.triggered.v1")) > 0

            await eventually(all_told)
            fills = [CloudEvent[OrderFilled].parse(json.dumps(e)) for e in await facts(client, "order.filled.v1")]
            assert len(fills) == len(orders)
            (fired,) = [
                CloudEvent[AlertTriggered].parse(json.dumps(e)) for e in await facts(client, "alert.triggered.v1")
            ]
            assert (fired.data.alert.id, fired.data.user_id, fired.data.source) == (alert, "ann", "sample")
            portfolio = await call(client, "get_portfolio")
            spent = sum(float(fill.data.amount) for fill in fills)
            assert portfolio["cash"] == pytest.approx(100_000 - spent, abs=0.001)
            assert {held["symbol"]: held["quantity"] for held in portfolio["positions"]} == {
                "IBM": 1, "AAPL": 2, "MSFT": 3, "GOOG": 4,
            }  # fmt: skip
            assert sum(held["cost"] for held in portfolio["positions"]) == pytest.approx(spent, abs=0.001)
            rpc = RpcClient(client)
            assert [alert.id for alert in (await rpc.call(ALERTS_UNTOLD, ANN, deadline=40)).alerts] == [alert]
            # Whoever asks again with the same call gets the same order, from any replica.
            again = await call(
                client, "create_paper_order", "o0", symbol="IBM", side="buy", quantity=1, order_type="market"
            )
            assert (again["action_id"], again["status"]) == (orders[0], "filled")
            await call(client, "add_to_watchlist", symbol="FB")
            holdings = await rpc.call(HOLDINGS, ANN, deadline=40)
            assert (holdings.watchlist, holdings.alerts, len(holdings.portfolio["positions"])) == (["FB"], [], 4)
            assert (await rpc.call(COMPANY_FORGET, CompanyRequest(company_id="dem"), deadline=40)).deleted == 0
            assert (await rpc.call(USER_FORGET, ANN, deadline=40)).deleted == 3
            assert (await call(client, "get_portfolio"))["cash"] == 100_000
            await call(client, "add_to_watchlist", symbol="FB")
            company = CompanyRequest(company_id=ANN.company_id)
            assert (await rpc.call(COMPANY_FORGET, company, deadline=40)).deleted == 1
            assert (await rpc.call(HOLDINGS, ANN, deadline=40)).watchlist == []


async def test_on_the_last_bar_nothing_fills_and_everything_is_still_served(stack: Stack, nats_streams: Client) -> None:
    async with stack.service() as service:
        await service.ready()
        order = await confirmed(nats_streams, "c1", symbol="IBM", side="buy", quantity=1, order_type="market")
        await asyncio.gather(*[call(nats_streams, "get_portfolio") for _ in range(20)])
        (waiting,) = (await call(nats_streams, "get_pending_orders"))["orders"]
        assert (waiting["order_id"], waiting["status"]) == (order, "open")
