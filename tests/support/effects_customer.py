"""A customer who makes alerts and orders over REST; a ledger records them."""

import asyncio
import uuid
from typing import Any

import aiohttp

from contracts.errors import OUTCOME_UNKNOWN
from gateway.testing.http import Http
from runtime.testing.servers import eventually
from tests.support.effects_ledger import EffectsLedger, View
from tests.support.running_stack import RunningStack

SETTLED_WITHIN = 90.0
"""Seconds until the outcome of every key is known, once everything is running again."""
FINAL = {200: View.ACCEPTED, 422: View.REJECTED, 502: View.REJECTED}


class Customer:
    """A customer on the plan pro who makes alerts and orders over REST, each with a unique basis."""

    def __init__(self, stack: RunningStack, http: Http) -> None:
        self.token = stack.mint("user", f"u-{uuid.uuid4().hex[:12]}", "acme", plan="pro")
        self._http = http
        self.ledger = EffectsLedger()
        self._asked: dict[str, tuple[str, dict[str, Any]]] = {}

    async def call(self, tool: str, arguments: dict[str, Any], key: str = "") -> tuple[int, dict[str, Any]]:
        headers = {"Idempotency-Key": key} if key else {}
        body = {"arguments": arguments}
        answer = await self._http("POST", f"/v2/tools/{tool}", token=self.token, json=body, headers=headers)
        return answer[0], answer[1]

    def effect(self, number: int) -> str:
        """Prepares a new effect without asking for it and returns its key: an alert known by its message, or an order
        known by its quantity."""
        key = uuid.uuid4().hex
        if number % 2:
            basis, tool = f"look {key}", "create_alert"
            arguments = {"symbol": "AAPL", "condition": ">=", "price": 9000, "message": basis}
        else:
            basis, tool = f"{1 + number / 1000:.3f}", "create_paper_order"
            arguments = {"symbol": "IBM", "side": "buy", "quantity": float(basis), "order_type": "market"}
        self.ledger.ask(key, basis)
        self._asked[key] = (tool, arguments)
        return key

    async def ask(self, key: str) -> tuple[int, dict[str, Any]]:
        """Asks for the effect and records the outcome in the ledger."""
        try:
            status, body = await self.call(*self._asked[key], key)
        except (aiohttp.ClientError, TimeoutError):
            status, body = 0, {"error": {"reason": OUTCOME_UNKNOWN}}
        error: dict[str, Any] = body.get("error") or {}
        unknown = error.get("reason") == OUTCOME_UNKNOWN
        self.ledger.see(key, View.UNKNOWN if unknown else FINAL.get(status, View.UNKNOWN))
        return status, body

    async def settle(self) -> None:
        """Repeats each request without an answer until it has one."""

        async def settled() -> bool:
            await asyncio.gather(*(self.ask(one.key) for one in self.ledger.unsettled))
            return not self.ledger.unsettled

        await eventually(settled, SETTLED_WITHIN)

    async def stands(self) -> list[str]:
        """Returns the basis of every effect in the store."""
        status, alerts = await self.call("list_alerts", {})
        assert status == 200, alerts
        status, orders = await self.call("get_pending_orders", {})
        assert status == 200, orders
        messages = [alert["message"] for alert in alerts["data"]["alerts"]]
        return messages + [f"{order['quantity']:.3f}" for order in orders["data"]["orders"]]
